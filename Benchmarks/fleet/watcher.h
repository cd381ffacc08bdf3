/* Who hears everything, as a hub does, and counts. */
#ifndef WATCHER_H
#define WATCHER_H

#include "device.h"

enum { heard_online, heard_offline, heard_leaving, heard_event, heard_caught_up, heard_kinds };

struct watcher {
    struct link link;
    int is_ready;
    /* Since the last mark, by kind; and of all events how many came twice, and how many did not come before a later one. */
    unsigned heard[heard_kinds], doubled, missed;
    /* The number of the last event of each device, and of which boot. */
    struct last { unsigned boot, number; } *last;
    /* Microseconds from a device to here, of each event. */
    unsigned *delays, delay_count, delay_room;
};

extern const char *const heard_names[heard_kinds];

void watcher_connect(struct watcher *watcher);
void watcher_work(struct watcher *watcher, const struct device *devices);
void watcher_mark(struct watcher *watcher);
/* A share of the delays is not longer, in microseconds. */
unsigned watcher_delay(struct watcher *watcher, double share);

#endif
