/* Packets of MQTT, version 4 (3.1.1) or 5. Sources: MQTT 3.1.1 and MQTT 5.0, OASIS Standards. */
#ifndef MQTT_H
#define MQTT_H

#include "bytes.h"

enum { CONNACK = 2, PUBLISH = 3, PUBACK = 4, SUBACK = 9, PINGRESP = 13, DISCONNECT = 14 };

/* Seconds; what version 4 does not know is left out there. */
struct greeting {
    int version;
    const char *client, *will_topic, *will;
    unsigned keepalive, session_expiry, will_delay, will_expiry;
};

void mqtt_connect(struct bytes *out, const struct greeting *greeting);
/* With QoS 1; an expiry of 0 is none. */
void mqtt_publish(struct bytes *out, int version, uint16_t id, const char *topic, const char *payload, int retained, unsigned expiry);
void mqtt_subscribe(struct bytes *out, int version, uint16_t id, const char *filter);
void mqtt_acknowledge(struct bytes *out, uint16_t id);
void mqtt_ping(struct bytes *out);
void mqtt_leave(struct bytes *out);

struct packet {
    int type, flags;
    const unsigned char *body;
    size_t length;
    /* With its header. */
    size_t size;
};

/* The packet at a place: 1 if it is there, 0 if it is not whole, -1 if it is none. */
int mqtt_next(const struct bytes *in, size_t from, struct packet *packet);

struct message {
    const char *topic, *payload;
    size_t topic_length, length;
    /* 0 for one that is not to be acknowledged. */
    uint16_t id;
};

/* What a packet PUBLISH carries: 0 if it is damaged. */
int mqtt_message(const struct packet *packet, int version, struct message *message);

#endif
