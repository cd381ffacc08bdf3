#include "mqtt.h"

enum { message_expiry = 0x02, session_expiry = 0x11, will_delay = 0x18 };

static void add_byte(struct bytes *out, unsigned value) {
    unsigned char byte = value;
    bytes_add(out, &byte, 1);
}

static void add_short(struct bytes *out, unsigned value) {
    add_byte(out, value >> 8);
    add_byte(out, value);
}

static void add_text(struct bytes *out, const char *text) {
    add_short(out, strlen(text));
    bytes_add(out, text, strlen(text));
}

static void add_length(struct bytes *out, size_t length) {
    for (; length > 127; length >>= 7) add_byte(out, (length & 127) | 128);
    add_byte(out, length);
}

static void add_property(struct bytes *out, int which, unsigned seconds) {
    add_byte(out, which);
    add_short(out, seconds >> 16);
    add_short(out, seconds);
}

/* Appends a packet with its fixed header, and empties the body. */
static void add_packet(struct bytes *out, unsigned first, struct bytes *body) {
    add_byte(out, first);
    add_length(out, body->count);
    bytes_add(out, body->data, body->count);
    bytes_drop(body, body->count);
}

void mqtt_connect(struct bytes *out, const struct greeting *greeting) {
    struct bytes body = {0};
    int is_five = greeting->version == 5;
    add_text(&body, "MQTT");
    add_byte(&body, greeting->version);
    /* Flags: a retained will with QoS 1. Clean session is off. */
    add_byte(&body, greeting->will ? 0x2c : 0);
    add_short(&body, greeting->keepalive);
    if (is_five) {
        add_length(&body, 5);
        add_property(&body, session_expiry, greeting->session_expiry);
    }
    add_text(&body, greeting->client);
    if (greeting->will) {
        if (is_five) {
            add_length(&body, 10);
            add_property(&body, will_delay, greeting->will_delay);
            add_property(&body, message_expiry, greeting->will_expiry);
        }
        add_text(&body, greeting->will_topic);
        add_text(&body, greeting->will);
    }
    add_packet(out, 0x10, &body);
}

void mqtt_publish(struct bytes *out, int version, uint16_t id, const char *topic, const char *payload, int retained, unsigned expiry) {
    struct bytes body = {0};
    add_text(&body, topic);
    add_short(&body, id);
    if (version == 5) {
        add_length(&body, expiry > 0 ? 5 : 0);
        if (expiry > 0) add_property(&body, message_expiry, expiry);
    }
    bytes_add(&body, payload, strlen(payload));
    add_packet(out, PUBLISH << 4 | 2 | (retained ? 1 : 0), &body);
}

void mqtt_subscribe(struct bytes *out, int version, uint16_t id, const char *filter) {
    struct bytes body = {0};
    add_short(&body, id);
    if (version == 5) add_length(&body, 0);
    add_text(&body, filter);
    add_byte(&body, 1);
    add_packet(out, 0x82, &body);
}

void mqtt_acknowledge(struct bytes *out, uint16_t id) {
    add_short(out, PUBACK << 12 | 2);
    add_short(out, id);
}

void mqtt_ping(struct bytes *out) { add_short(out, 0xc000); }

void mqtt_leave(struct bytes *out) { add_short(out, 0xe000); }

/* Parses a variable byte integer of 1 to 4 bytes. Returns the number of bytes, 0 if the integer is incomplete, or -1 if it is invalid.
   */
static int take_length(const unsigned char *data, size_t count, size_t *value) {
    *value = 0;
    for (int used = 0; used < 4; used++) {
        if ((size_t)used == count) return 0;
        *value |= (size_t)(data[used] & 127) << 7 * used;
        if (data[used] < 128) return used + 1;
    }
    return -1;
}

int mqtt_next(const struct bytes *in, size_t from, struct packet *packet) {
    if (in->count < from + 2) return 0;
    const unsigned char *data = in->data + from;
    size_t length;
    int used = take_length(data + 1, in->count - from - 1, &length);
    if (used <= 0) return used;
    *packet = (struct packet){data[0] >> 4, data[0] & 15, data + 1 + used, length, 1 + used + length};
    return in->count - from >= packet->size;
}

int mqtt_message(const struct packet *packet, int version, struct message *message) {
    const unsigned char *at = packet->body, *end = at + packet->length;
    if (end - at < 2) return 0;
    message->topic_length = at[0] << 8 | at[1];
    message->topic = (const char *)(at += 2);
    if ((size_t)(end - at) < message->topic_length) return 0;
    at += message->topic_length;
    message->id = 0;
    if (packet->flags & 6) {
        if (end - at < 2) return 0;
        message->id = at[0] << 8 | at[1];
        at += 2;
    }
    if (version == 5) {
        size_t properties;
        int used = take_length(at, end - at, &properties);
        if (used <= 0 || (size_t)(end - at) < used + properties) return 0;
        at += used + properties;
    }
    message->payload = (const char *)at;
    message->length = end - at;
    return 1;
}
