/* MQTT packets of version 4 (3.1.1) and 5. Sources: MQTT 3.1.1 and MQTT 5.0, OASIS Standards. */
#ifndef MQTT_H
#define MQTT_H

#include "bytes.h"

enum { CONNACK = 2, PUBLISH = 3, PUBACK = 4, SUBACK = 9, PINGRESP = 13, DISCONNECT = 14 };

/* The fields of CONNECT. Times are in seconds; those that version 4 does not have are left out. */
struct greeting {
    int version;
    const char *client, *will_topic, *will;
    unsigned keepalive, session_expiry, will_delay, will_expiry;
};

void mqtt_connect(struct bytes *out, const struct greeting *greeting);
/* Appends PUBLISH with QoS 1. An expiry of 0 means none. */
void mqtt_publish(struct bytes *out, int version, uint16_t id, const char *topic, const char *payload, int retained, unsigned expiry);
void mqtt_subscribe(struct bytes *out, int version, uint16_t id, const char *filter);
void mqtt_acknowledge(struct bytes *out, uint16_t id);
void mqtt_ping(struct bytes *out);
void mqtt_leave(struct bytes *out);

struct packet {
    int type, flags;
    const unsigned char *body;
    size_t length;
    /* The length including the fixed header. */
    size_t size;
};

/* Parses the packet at an offset. Returns 1 if it is complete, 0 if it is incomplete, or -1 if it is invalid. */
int mqtt_next(const struct bytes *in, size_t from, struct packet *packet);

struct message {
    const char *topic, *payload;
    size_t topic_length, length;
    /* 0 if the message needs no acknowledgement (QoS 0). */
    uint16_t id;
};

/* Parses the body of PUBLISH. Returns 0 if it is invalid. */
int mqtt_message(const struct packet *packet, int version, struct message *message);

#endif
