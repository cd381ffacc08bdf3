#define _GNU_SOURCE
#include "watcher.h"

#include <arpa/inet.h>

const char *const heard_names[heard_kinds] = {"online", "offline", "leaving", "event", "caughtUp"};

void watcher_connect(struct watcher *watcher) {
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct greeting words = {.version = settings.version, .client = "watcher", .keepalive = 0, .session_expiry = 3600};
    watcher->is_ready = 0;
    link_begin(&watcher->link, settings.epoll, settings.count, &from, &settings.broker, settings.tls, 60);
    mqtt_connect(&watcher->link.out, &words);
}

static int has(const struct message *message, const char *text) {
    return memmem(message->payload, message->length, text, strlen(text)) != NULL;
}

static int kind_of(const struct message *message) {
    static const char *const signs[heard_kinds] = {
        "\"state\":\"online\"", "\"state\":\"offline\"", "\"state\":\"leaving\"", "\"event\":\"outage\"", "\"event\":\"caughtUp\"",
    };
    for (int kind = 0; kind < heard_kinds; kind++)
        if (has(message, signs[kind])) return kind;
    return -1;
}

static void note_delay(struct watcher *watcher, int64_t delay) {
    if (watcher->delay_count == watcher->delay_room) {
        watcher->delay_room = watcher->delay_room * 2 + 1024;
        watcher->delays = realloc(watcher->delays, watcher->delay_room * sizeof *watcher->delays);
        if (!watcher->delays) die("realloc");
    }
    watcher->delays[watcher->delay_count++] = delay / 1000;
}

/* Counts an event: duplicates, gaps in the numbers, and its delay. */
static void note_event(struct watcher *watcher, const struct message *message, const struct device *devices) {
    char text[160] = "";
    unsigned index, number, boot;
    memcpy(text, message->payload, message->length < sizeof text - 1 ? message->length : sizeof text - 1);
    const char *name = memmem(message->topic, message->topic_length, "device-", 7), *id = strstr(text, "\"id\":\"");
    /* The epoch in the event's ID is the number of the run and of the boot. */
    char run[16];
    int length = snprintf(run, sizeof run, "%x", settings.run);
    if (!name || !id || strncmp(id + 6, run, length) != 0) return;
    if (sscanf(name + 7, "%6u", &index) != 1 || sscanf(id + 6 + length, "%x.%u", &boot, &number) != 2) return;
    if (index >= settings.count || devices[index].flood_begun > 0) return;
    struct last *last = &watcher->last[index];
    if (boot != last->boot) *last = (struct last){.boot = boot};
    if (number <= last->number) {
        watcher->doubled++;
        return;
    }
    watcher->missed += number - last->number - 1;
    last->number = number;
    if (boot == devices[index].boot && number <= devices[index].logged) note_delay(watcher, now() - devices[index].log[number - 1].told);
}

void watcher_work(struct watcher *watcher, const struct device *devices) {
    struct packet packet;
    size_t used = 0;
    int is_over = link_work(&watcher->link) < 0, found = 0;
    while ((found = mqtt_next(&watcher->link.in, used, &packet)) > 0) {
        struct message message;
        used += packet.size;
        if (packet.type == CONNACK) mqtt_subscribe(&watcher->link.out, settings.version, 1, "reach/v1/#");
        if (packet.type == SUBACK) watcher->is_ready = 1;
        if (packet.type != PUBLISH || !mqtt_message(&packet, settings.version, &message)) continue;
        if (message.id) mqtt_acknowledge(&watcher->link.out, message.id);
        int kind = kind_of(&message);
        if (kind >= 0) watcher->heard[kind]++;
        if (kind == heard_event) note_event(watcher, &message, devices);
    }
    bytes_drop(&watcher->link.in, used);
    if (!is_over && watcher->link.phase == link_open) is_over = link_put(&watcher->link) < 0;
    if (!is_over && found >= 0) return;
    link_cut(&watcher->link);
    watcher->is_ready = 0;
}

void watcher_mark(struct watcher *watcher) {
    memset(watcher->heard, 0, sizeof watcher->heard);
    watcher->delay_count = 0;
}

static int compare(const void *one, const void *other) {
    unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;
    return (a > b) - (a < b);
}

unsigned watcher_delay(struct watcher *watcher, double share) {
    if (watcher->delay_count == 0) return 0;
    qsort(watcher->delays, watcher->delay_count, sizeof *watcher->delays, compare);
    unsigned place = share * watcher->delay_count;
    return watcher->delays[place < watcher->delay_count ? place : watcher->delay_count - 1];
}
