// The lower bound of the latency: a blocking loop that prints the time of each notification, without evaluating it.
// One line per datagram: CLOCK_MONOTONIC nanoseconds, message type, and for a route its prefix length, else 0.
#include "netlink.h"

int main(void) {
    int events = open_events(0);
    char message[32768], line[64];
    if (write(STDOUT_FILENO, "0 0 0\n", 6) < 0) fail("write");
    for (;;) {
        if (recv(events, message, sizeof message, 0) < 0) {
            if (errno == ENOBUFS || errno == EINTR) continue;
            fail("recv");
        }
        const struct nlmsghdr *header = (const struct nlmsghdr *)message;
        bool route = header->nlmsg_type == RTM_NEWROUTE || header->nlmsg_type == RTM_DELROUTE;
        int prefix = route ? ((const struct rtmsg *)NLMSG_DATA(header))->rtm_dst_len : 0;
        int length = snprintf(line, sizeof line, "%lld %d %d\n", monotonic_nanoseconds(), header->nlmsg_type, prefix);
        if (write(STDOUT_FILENO, line, length) < 0) fail("write");
    }
}
