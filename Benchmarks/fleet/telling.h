/* The messages of a machine, in the format of `ReachabilityFleet/Messages`. */
#ifndef TELLING_H
#define TELLING_H

#include "device.h"

/* The purpose of a packet, by its packet identifier. Packets of a flood have identifiers from `flood_id` on and no purpose. */
enum { nothing, state, event, caught_up };
enum { flood_id = 0x8000 };

void device_topic(const struct device *device, const char *kind, char *room, size_t size);
/* The name of the connection: the member `session`. */
void device_session(const struct device *device, char *room, size_t size);
/* Publishes the state. `more` contains additional JSON members, each after a comma. */
void device_report(struct device *device, const char *standing, const char *more);
/* Publishes an event of the log; numbers start at 1. */
void device_tell(struct device *device, unsigned number);
void device_say_caught_up(struct device *device);
/* Publishes that the replay starts, with the mark of the command that requested it. */
void device_say_replaying(struct device *device, const char *mark);
/* Publishes messages at the rate of the flood, each with a new outage. */
void device_flood(struct device *device, int64_t time);

#endif
