#include "telling.h"

#include <arpa/inet.h>

enum { pause_between = 50 * millisecond, window = 20 };

/* Sends the unsent events of the log, as far as the rate limit and the window of unacknowledged messages allow. */
static void tell_on(struct device *device, int64_t time) {
    while (device->sent < device->logged && device->sent - device->acknowledged < window) {
        if (device->caught_up == untold) {
            if (time < device->next_send) break;
            device->next_send = time + pause_between;
        }
        device_tell(device, ++device->sent);
    }
    if (device->caught_up == untold && device->acknowledged == device->logged) device_say_caught_up(device);
}

/* Handles the end of the connection or of an attempt. Like an agent, the device reconnects. */
static void lose(struct device *device) {
    if (device->phase == there) {
        counts.connected--;
        counts.lost++;
    } else if (device->phase == opening || device->phase == greeting) {
        counts.connecting--;
        counts.refused++;
    } else if (device->phase == waiting) {
        counts.waiting--;
    }
    link_cut(&device->link);
    device->phase = away;
    device_return(device, settings.jitter);
}

static void flush(struct device *device) {
    if (device->link.phase == link_open && link_put(&device->link) < 0) lose(device);
}

void device_return(struct device *device, unsigned jitter) {
    if (device->phase != away) return;
    device->phase = waiting;
    counts.waiting++;
    device->due = now() + (jitter > 0 ? (int64_t)(drand48() * jitter * millisecond) : 0);
}

void device_drop(struct device *device) {
    lose(device);
    counts.waiting--;
    device->phase = away;
}

void device_leave(struct device *device) {
    if (device->phase == there) {
        device_report(device, "leaving", ",\"reason\":\"stopped\"");
        mqtt_leave(&device->link.out);
        link_put(&device->link);
    }
    device_drop(device);
}

void device_reboot(struct device *device) {
    device_drop(device);
    free(device->log);
    device->log = NULL;
    device->logged = device->sent = device->acknowledged = 0;
    device->boot++;
}

static void note(struct device *device, struct event event) {
    device->log = realloc(device->log, (device->logged + 1) * sizeof event);
    if (!device->log) die("realloc");
    device->log[device->logged++] = event;
    if (device->phase != there) return;
    tell_on(device, now());
    flush(device);
}

void device_begin(struct device *device, const char *cause) {
    int64_t time = clock_now(CLOCK_REALTIME) / millisecond;
    note(device, (struct event){.outage = ++device->outages, .cause = cause, .start = time});
}

void device_end(struct device *device) {
    if (device->logged == 0 || device->log[device->logged - 1].end != 0) return;
    struct event event = device->log[device->logged - 1];
    event.end = clock_now(CLOCK_REALTIME) / millisecond;
    event.told = 0;
    note(device, event);
}

void device_connect(struct device *device) {
    char topic[96], client[32], name[48], will[128];
    /* Each device has its own source address, so that there are enough ports for ten thousand, and firewall rules can match some. */
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f640001 + device->index)};
    device->connection++;
    counts.waiting--;
    device->phase = opening;
    device->birth = device->caught_up = untold;
    device->sent = device->acknowledged;
    device->next_send = 0;
    device->last_in = device->begun = now();
    counts.connecting++;
    link_begin(&device->link, settings.epoll, device->index, &from, &settings.broker, settings.tls, settings.keepalive);
    device_topic(device, "state", topic, sizeof topic);
    device_session(device, name, sizeof name);
    snprintf(client, sizeof client, "device-%06u", device->index);
    snprintf(will, sizeof will, "{\"schema\":1,\"session\":\"%s\",\"state\":\"offline\"}", name);
    struct greeting words = {settings.version, client, topic, will, settings.keepalive, 3600, settings.will_delay, settings.refresh * 3};
    mqtt_connect(&device->link.out, &words);
}

static void welcome(struct device *device, const struct packet *packet) {
    char topic[96];
    if (packet->length < 2 || packet->body[1] != 0) {
        lose(device);
        return;
    }
    counts.connecting--;
    counts.connected++;
    device->phase = there;
    device->next_ping = now() + (int64_t)((0.5 + drand48() / 2) * settings.keepalive * second);
    device_topic(device, "cmd", topic, sizeof topic);
    device->next_id = device->next_id % 0x7fff + 1;
    device->purposes[device->next_id % sizeof device->purposes] = nothing;
    mqtt_subscribe(&device->link.out, settings.version, device->next_id, topic);
    device_report(device, "online", "");
    tell_on(device, now());
}

static void settle(struct device *device, uint16_t id) {
    if (id & flood_id) return;
    counts.acknowledged++;
    switch (device->purposes[id % sizeof device->purposes]) {
    case state: device->birth = told; break;
    case caught_up: device->caught_up = told; break;
    /* A broker sends PUBACK in the order of the messages (MQTT-4.6.0-2). */
    case event: if (device->acknowledged < device->sent) device->acknowledged++; break;
    }
}

/* Handles the command to replay the log, from a position or from the start. Other commands are ignored. */
static void obey(struct device *device, const struct message *message) {
    char text[256] = "", epoch[32], mine[32], mark[65] = "";
    unsigned number = 0, after = 0;
    memcpy(text, message->payload, message->length < sizeof text - 1 ? message->length : sizeof text - 1);
    if (!strstr(text, "\"replay-from\"")) return;
    snprintf(mine, sizeof mine, "%x%x", settings.run, device->boot);
    const char *place = strstr(text, "\"after\":\""), *sign = strstr(text, "\"mark\":\"");
    if (place && sscanf(place + 9, "%31[^.].%u", epoch, &number) == 2 && strcmp(epoch, mine) == 0) after = number;
    if (sign) sscanf(sign + 8, "%64[^\"]", mark);
    counts.replayed++;
    device->sent = device->acknowledged = after < device->logged ? after : device->logged;
    device->caught_up = untold;
    /* Events without a PUBACK are sent again. */
    for (size_t id = 0; id < sizeof device->purposes; id++)
        if (device->purposes[id] != state) device->purposes[id] = nothing;
    device_report(device, "online", "");
    if (mark[0]) device_say_replaying(device, mark);
}

void device_work(struct device *device) {
    struct packet packet;
    size_t used = 0;
    int is_over = link_work(&device->link) < 0, found = 0;
    if (device->link.phase == link_open && device->phase == opening) device->phase = greeting;
    while ((found = mqtt_next(&device->link.in, used, &packet)) > 0) {
        struct message message;
        used += packet.size;
        if (packet.type == CONNACK) {
            welcome(device, &packet);
        } else if (packet.type == PUBACK && packet.length >= 2) {
            settle(device, packet.body[0] << 8 | packet.body[1]);
        } else if (packet.type == PUBLISH && mqtt_message(&packet, settings.version, &message)) {
            if (message.id) mqtt_acknowledge(&device->link.out, message.id);
            obey(device, &message);
        } else if (packet.type == DISCONNECT) {
            is_over = 1;
        }
        if (device->link.phase != link_open) return;
        device->last_in = now();
    }
    if (is_over || found < 0) {
        lose(device);
        return;
    }
    bytes_drop(&device->link.in, used);
    if (device->phase == there) tell_on(device, now());
    flush(device);
}

void device_tick(struct device *device, int64_t time) {
    int64_t patience = settings.keepalive * (int64_t)second;
    if (device->phase == opening || device->phase == greeting) {
        if (time > device->begun + 20LL * second) lose(device);
        return;
    }
    if (device->phase != there) return;
    if (time > device->last_in + 2 * patience) {
        lose(device);
        return;
    }
    if (time >= device->next_report) device_report(device, "online", "");
    if (device->sent < device->logged || device->caught_up == untold) tell_on(device, time);
    if (device->flood > 0) {
        device_flood(device, time);
        if (time >= device->flood_end) device->flood = 0;
    }
    if (time >= device->next_ping) {
        mqtt_ping(&device->link.out);
        device->next_ping = time + patience;
    }
    if (device->link.out.count > 0) flush(device);
}

int device_rests(const struct device *device) {
    if (device->phase == away) return 1;
    return device->phase == there && device->birth == told && device->caught_up == told && device->acknowledged == device->logged;
}
