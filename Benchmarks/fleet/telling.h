/* What a machine says, word by word as `ReachabilityFleet/Messages` has it. */
#ifndef TELLING_H
#define TELLING_H

#include "device.h"

/* What a packet was for, by the number it is acknowledged with. Those of a flood are nobody's. */
enum { nothing, state, event, caught_up };
enum { flood_id = 0x8000 };

void device_topic(const struct device *device, const char *kind, char *room, size_t size);
/* The name of its connection. */
void device_session(const struct device *device, char *room, size_t size);
/* How it is, with more members of JSON, each after a comma. */
void device_report(struct device *device, const char *standing, const char *more);
/* One line of the log; its number counts from 1. */
void device_tell(struct device *device, unsigned number);
void device_say_caught_up(struct device *device);
/* From here on it tells again, as it was asked to with that mark. */
void device_say_replaying(struct device *device, const char *mark);
/* Messages as fast as it was told to, each an outage that nobody has heard of. */
void device_flood(struct device *device, int64_t time);

#endif
