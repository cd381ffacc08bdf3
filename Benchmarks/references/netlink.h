// The common functions of the reference programs: sockets, the clock, one request and its answer. They use netlink without a
// library, because they are the lower bound that a library is compared with.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP (1 << 16)
#endif

static inline long long monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline void fail(const char *what) {
    perror(what);
    exit(1);
}

static inline int open_netlink(int flags) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, NETLINK_ROUTE);
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("netlink socket");
    return fd;
}

/// Subscribes to all events that can change a path.
static inline void join_events(int fd) {
    static const int groups[] = {
        RTNLGRP_LINK,      RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,   RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE,   RTNLGRP_NEXTHOP,     RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF,
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]) < 0) fail("group");
}

static inline int open_events(int flags) {
    int fd = open_netlink(flags);
    join_events(fd);
    return fd;
}

/// Sends one request and stores its answer in `answer`. Returns the errno of the answer, or 0.
static inline int ask(int fd, struct nlmsghdr *request, char *answer, size_t capacity) {
    static uint32_t sequence;
    request->nlmsg_seq = ++sequence;
    if (send(fd, request, request->nlmsg_len, 0) < 0) fail("send");
    const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
    do {
        if (recv(fd, answer, capacity, 0) < 0) fail("recv");
    } while (header->nlmsg_seq != sequence);
    if (header->nlmsg_type != NLMSG_ERROR) return 0;
    return -((const struct nlmsgerr *)NLMSG_DATA(header))->error;
}
