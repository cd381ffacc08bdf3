/* A subscriber that receives all messages, as a hub does, and counts them. */
#ifndef WATCHER_H
#define WATCHER_H

#include "device.h"

enum { heard_online, heard_offline, heard_leaving, heard_event, heard_caught_up, heard_kinds };

struct watcher {
    struct link link;
    int is_ready;
    /* Messages since the last mark, by kind; duplicate events, and events that had not arrived before a later one. */
    unsigned heard[heard_kinds], doubled, missed;
    /* The boot and the number of the last event of each device. */
    struct last { unsigned boot, number; } *last;
    /* The delay of each event between device and watcher, in microseconds. */
    unsigned *delays, delay_count, delay_room;
};

extern const char *const heard_names[heard_kinds];

void watcher_connect(struct watcher *watcher);
void watcher_work(struct watcher *watcher, const struct device *devices);
void watcher_mark(struct watcher *watcher);
/* A quantile of the delays in microseconds. */
unsigned watcher_delay(struct watcher *watcher, double share);

#endif
