/* A machine of the fleet, as its agent speaks for it: `ReachabilityFleetAgent` and `ReachabilityFleet/Messages` have the original. */
#ifndef DEVICE_H
#define DEVICE_H

#include "link.h"
#include "mqtt.h"

/* What all have in common. */
struct settings {
    unsigned count, sites, keepalive, refresh, will_delay, jitter, at_once;
    int version, epoll;
    struct sockaddr_in broker;
    SSL_CTX *tls;
    /* Another for each run. */
    unsigned run;
};

extern struct settings settings;

/* What is being done with the fleet, all told. */
struct counts {
    unsigned waiting, connecting, connected, lost, refused, sent, acknowledged, flooded, replayed;
};

extern struct counts counts;

/* An event of the log: an outage as it begins, and once more as it ends. */
struct event {
    unsigned outage;
    const char *cause;
    /* By the true clock, milliseconds since 1970; no end while it lasts. */
    int64_t start, end;
    /* When it was told first. */
    int64_t told;
};

struct device {
    struct link link;
    unsigned index, connection, boot;
    enum { away, waiting, opening, greeting, there } phase;
    /* When it connects. */
    int64_t due;
    /* By so many milliseconds its wall clock is wrong. */
    int64_t skew;
    /* Its log; what of it was sent, and acknowledged. */
    struct event *log;
    unsigned logged, sent, acknowledged;
    unsigned outages;
    enum { untold, telling, told } birth, caught_up;
    int64_t next_send, next_report, next_ping, begun, last_in;
    uint16_t next_id;
    unsigned char purposes[32];
    /* Messages a second, until a time. */
    unsigned flood;
    int64_t flood_begun, flood_end, flood_sent;
};

/* It is to be there, after up to so many milliseconds. */
void device_return(struct device *device, unsigned jitter);
/* It breaks off without a word. */
void device_drop(struct device *device);
/* It says that it goes, and why. */
void device_leave(struct device *device);
/* It starts again: another boot, and another log. */
void device_reboot(struct device *device);
void device_begin(struct device *device, const char *cause);
void device_end(struct device *device);
void device_connect(struct device *device);
/* Its socket has something to say. */
void device_work(struct device *device);
/* Time has passed. */
void device_tick(struct device *device, int64_t time);
/* Whether it has nothing to do and nothing to wait for. */
int device_rests(const struct device *device);

#endif
