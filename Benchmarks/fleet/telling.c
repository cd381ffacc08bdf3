#include "telling.h"

void device_topic(const struct device *device, const char *kind, char *room, size_t size) {
    unsigned site = (uint64_t)device->index * settings.sites / settings.count;
    snprintf(room, size, "reach/v1/site-%03u/device-%06u/%s", site, device->index, kind);
}

static int64_t wall(const struct device *device) { return clock_now(CLOCK_REALTIME) / millisecond + device->skew; }

void device_session(const struct device *device, char *room, size_t size) {
    snprintf(room, size, "%x%x-%x", settings.run, device->index, device->connection);
}

static const char *moment(char *room, size_t size, int64_t milliseconds) {
    time_t seconds = milliseconds / 1000;
    struct tm parts;
    gmtime_r(&seconds, &parts);
    size_t used = strftime(room, size, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(room + used, size - used, ".%03dZ", (int)(milliseconds % 1000));
    return room;
}

/* The value of `end` in JSON. */
static const char *end_of(char *room, size_t size, const struct device *device, const struct event *event) {
    char text[40];
    if (event->end == 0) return "null";
    snprintf(room, size, "\"%s\"", moment(text, sizeof text, event->end + device->skew));
    return room;
}

static void publish(struct device *device, int purpose, const char *kind, const char *payload, int retained) {
    char topic[96];
    uint16_t id = device->next_id = device->next_id % 0x7fff + 1;
    device->purposes[id % sizeof device->purposes] = purpose;
    device_topic(device, kind, topic, sizeof topic);
    mqtt_publish(&device->link.out, settings.version, id, topic, payload, retained, retained ? settings.refresh * 3 : 0);
    counts.sent++;
}

void device_report(struct device *device, const char *standing, const char *more) {
    char text[512], name[48], position[48] = "null";
    device_session(device, name, sizeof name);
    if (device->acknowledged > 0) snprintf(position, sizeof position, "\"%x%x.%u\"", settings.run, device->boot, device->acknowledged);
    snprintf(text, sizeof text,
             "{\"schema\":1,\"session\":\"%s\",\"state\":\"%s\",\"boot\":\"%x-%x\",\"wall\":%lld,\"boottimeNs\":%lld,\"refresh\":%u,"
             "\"ackedSeq\":%s,\"path\":\"reachable\"%s}",
             name, standing, settings.run, device->boot, (long long)wall(device), (long long)clock_now(CLOCK_BOOTTIME), settings.refresh,
             position, more);
    if (device->birth == untold) device->birth = telling;
    publish(device, state, "state", text, 1);
    device->next_report = now() + settings.refresh * (int64_t)second;
}

void device_tell(struct device *device, unsigned number) {
    char text[640], name[48], start[40], end[48], after[64] = "";
    struct event *entry = &device->log[number - 1];
    if (number > 1) snprintf(after, sizeof after, "\"after\":\"%x%x.%u\",", settings.run, device->boot, number - 1);
    if (entry->told == 0) entry->told = now();
    device_session(device, name, sizeof name);
    snprintf(text, sizeof text,
             "{\"schema\":1,\"session\":\"%s\",\"id\":\"%x%x.%u\",%s\"wall\":%lld,\"event\":\"outage\",\"outage\":{\"id\":\"%x-%x-%u\","
             "\"target\":\"internet\",\"attribution\":\"us\",\"cause\":\"%s\",\"start\":\"%s\",\"end\":%s}}",
             name, settings.run, device->boot, number, after, (long long)wall(device), settings.run, device->boot, entry->outage, entry->cause,
             moment(start, sizeof start, entry->start + device->skew), end_of(end, sizeof end, device, entry));
    publish(device, event, "event", text, 0);
}

/* Sends an event that is not in the log. */
static void say(struct device *device, int purpose, const char *word, const char *more) {
    char text[256], name[48];
    device_session(device, name, sizeof name);
    snprintf(text, sizeof text, "{\"schema\":1,\"session\":\"%s\",\"id\":null,\"wall\":%lld,\"event\":\"%s\"%s}", name, (long long)wall(device), word,
             more);
    publish(device, purpose, "event", text, 0);
}

void device_say_caught_up(struct device *device) {
    device->caught_up = telling;
    say(device, caught_up, "caughtUp", "");
}

void device_say_replaying(struct device *device, const char *mark) {
    char more[96];
    snprintf(more, sizeof more, ",\"mark\":\"%s\"", mark);
    say(device, nothing, "replaying", more);
}

void device_flood(struct device *device, int64_t time) {
    int64_t due = (time - device->flood_begun) / millisecond * device->flood / 1000;
    char topic[96], text[640], name[48], start[40];
    device_topic(device, "event", topic, sizeof topic);
    device_session(device, name, sizeof name);
    moment(start, sizeof start, wall(device));
    for (; device->flood_sent < due && device->link.out.count < 1 << 20; device->flood_sent++) {
        unsigned number = device->flood_sent + 1;
        snprintf(text, sizeof text,
                 "{\"schema\":1,\"session\":\"%s\",\"id\":\"%xf.%u\",\"wall\":%lld,\"event\":\"outage\",\"outage\":{\"id\":\"f-%u\","
                 "\"target\":\"internet\",\"attribution\":\"us\",\"cause\":\"link\",\"start\":\"%s\",\"end\":\"%s\"}}",
                 name, settings.run, number, (long long)wall(device), number, start, start);
        mqtt_publish(&device->link.out, settings.version, flood_id | number, topic, text, 0, 0);
        counts.flooded++;
    }
}
