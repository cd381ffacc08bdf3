// Receives and counts messages until it is ended. SIGUSR1 prints the counts.
#pragma once

#include <signal.h>

#include "netlink.h"

static volatile sig_atomic_t asked;

static inline void on_signal(int signal) {
    (void)signal;
    asked = 1;
}

/// Prints one line at the start, and one for each SIGUSR1 that arrives while it waits: CLOCK_MONOTONIC nanoseconds, received
/// messages, the messages that may affect every target (not about a route, or about a default route), and overruns.
static inline void count_for_ever(int events) {
    struct sigaction action = {.sa_handler = on_signal};  // Without SA_RESTART: recv ends.
    sigaction(SIGUSR1, &action, NULL);
    long received = 0, relevant = 0, overruns = 0;
    for (asked = 1;;) {
        char message[32768];
        if (asked) {
            asked = 0;
            int length = snprintf(message, sizeof message, "%lld %ld %ld %ld\n", monotonic_nanoseconds(), received,
                                  relevant, overruns);
            if (write(STDOUT_FILENO, message, length) < 0) fail("write");
        }
        if (recv(events, message, sizeof message, 0) < 0) {
            if (errno == ENOBUFS) overruns++;
            else if (errno != EINTR) fail("recv");
            continue;
        }
        received++;
        const struct nlmsghdr *header = (const struct nlmsghdr *)message;
        bool route = header->nlmsg_type == RTM_NEWROUTE || header->nlmsg_type == RTM_DELROUTE;
        if (!route || ((const struct rtmsg *)NLMSG_DATA(header))->rtm_dst_len == 0) relevant++;
    }
}
