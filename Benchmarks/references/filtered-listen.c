// The lower bound of the cost with a filter: `filtered-listen ADDRESS ...` receives the messages that affect these few addresses.
#include "count.h"
#include "filter.h"

int main(int count, char **arguments) {
    (void)count;
    struct targets targets = read_targets(arguments + 1);
    if (targets.count > FILTER_TARGETS) {
        fprintf(stderr, "at most %d addresses\n", FILTER_TARGETS);
        return 64;
    }
    int events = open_netlink(0);
    attach_filter(events, &targets);  // The filter is attached first, so that it applies to every message.
    join_events(events);
    count_for_ever(events);
}
