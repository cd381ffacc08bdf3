/* A simulated machine of the fleet. It sends the same messages as the agent (`ReachabilityFleetAgent`, `ReachabilityFleet/Messages`). */
#ifndef DEVICE_H
#define DEVICE_H

#include "link.h"
#include "mqtt.h"

/* Settings of all devices. */
struct settings {
    unsigned count, sites, keepalive, refresh, will_delay, jitter, at_once;
    int version, epoll;
    struct sockaddr_in broker;
    SSL_CTX *tls;
    /* A random number for each run. */
    unsigned run;
};

extern struct settings settings;

/* Totals of all devices. */
struct counts {
    unsigned waiting, connecting, connected, lost, refused, sent, acknowledged, flooded, replayed;
};

extern struct counts counts;

/* An event in the log: an outage when it starts, and once more when it ends. */
struct event {
    unsigned outage;
    const char *cause;
    /* Milliseconds since 1970 by the correct clock; `end` is 0 while the outage lasts. */
    int64_t start, end;
    /* CLOCK_MONOTONIC when the event was first sent; 0 before that. */
    int64_t told;
};

struct device {
    struct link link;
    unsigned index, connection, boot;
    enum { away, waiting, opening, greeting, there } phase;
    /* CLOCK_MONOTONIC of the next attempt to connect. */
    int64_t due;
    /* The offset of its wall clock in milliseconds. */
    int64_t skew;
    /* The log, and how many of its events have been logged, sent and acknowledged. */
    struct event *log;
    unsigned logged, sent, acknowledged;
    unsigned outages;
    enum { untold, telling, told } birth, caught_up;
    int64_t next_send, next_report, next_ping, begun, last_in;
    uint16_t next_id;
    unsigned char purposes[32];
    /* The rate of a flood in messages per second, its start and end, and the messages sent. */
    unsigned flood;
    int64_t flood_begun, flood_end, flood_sent;
};

/* Connects after a random delay of at most `jitter` milliseconds. */
void device_return(struct device *device, unsigned jitter);
/* Closes the connection without DISCONNECT. */
void device_drop(struct device *device);
/* Sends the state `leaving` with a reason and DISCONNECT, and closes the connection. */
void device_leave(struct device *device);
/* Simulates a restart: a new boot ID and an empty log. */
void device_reboot(struct device *device);
void device_begin(struct device *device, const char *cause);
void device_end(struct device *device);
void device_connect(struct device *device);
/* Handles events of the socket. */
void device_work(struct device *device);
/* Handles timers. */
void device_tick(struct device *device, int64_t time);
/* Whether the device has nothing to send and waits for no acknowledgement. */
int device_rests(const struct device *device);

#endif
