// One evaluation of whether the internet has a path, by queries to the kernel, without stored state.
#pragma once

#include "netlink.h"

/// The path of packets. It has no padding, because two values are compared byte by byte.
struct path {
    int reachable;
    int family;
    int interface;
    char name[IF_NAMESIZE];
    unsigned char gateway[16], source[16];
};

struct link {
    int index;
    unsigned flags;
    char name[IF_NAMESIZE];
};

/// The links that were queried in one evaluation.
struct links {
    int count;
    struct link known[8];
};

static inline struct link link_of(int fd, struct links *links, int index) {
    for (int i = 0; i < links->count; i++)
        if (links->known[i].index == index) return links->known[i];
    struct { struct nlmsghdr header; struct ifinfomsg info; } request = {
        .header = {.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST},
        .info = {.ifi_index = index},
    };
    char answer[16384];
    struct link link = {.index = index};
    if (ask(fd, &request.header, answer, sizeof answer) == 0) {
        struct nlmsghdr *header = (struct nlmsghdr *)answer;
        struct ifinfomsg *info = NLMSG_DATA(header);
        link.flags = info->ifi_flags;
        int remaining = IFLA_PAYLOAD(header);
        for (struct rtattr *a = IFLA_RTA(info); RTA_OK(a, remaining); a = RTA_NEXT(a, remaining))
            if (a->rta_type == IFLA_IFNAME) strncpy(link.name, RTA_DATA(a), sizeof link.name - 1);
    }
    if (links->count < 8) links->known[links->count++] = link;
    return link;
}

/// Writes the request of a route lookup, from `source` if given. Returns its length.
static inline size_t put_lookup(char *place, uint32_t sequence, int family, const void *destination,
                                const void *source) {
    size_t length = family == AF_INET ? 4 : 16;
    struct { struct nlmsghdr header; struct rtmsg route; } request = {
        .header = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = sequence},
        .route = {.rtm_family = family, .rtm_dst_len = length * 8, .rtm_src_len = source ? length * 8 : 0},
    };
    request.header.nlmsg_len = sizeof request + (source ? 2 : 1) * RTA_SPACE(length);
    memcpy(place, &request, sizeof request);
    struct rtattr *attribute = (struct rtattr *)(place + sizeof request);
    *attribute = (struct rtattr){.rta_type = RTA_DST, .rta_len = RTA_LENGTH(length)};
    memcpy(RTA_DATA(attribute), destination, length);
    if (source) {
        attribute = (struct rtattr *)((char *)attribute + RTA_SPACE(length));
        *attribute = (struct rtattr){.rta_type = RTA_SRC, .rta_len = RTA_LENGTH(length)};
        memcpy(RTA_DATA(attribute), source, length);
    }
    return request.header.nlmsg_len;
}

/// Reads the answer of a lookup. Returns false without a unicast or local route.
static inline bool parse_lookup(struct nlmsghdr *header, int family, struct path *path) {
    *path = (struct path){.family = family};
    struct rtmsg *route = NLMSG_DATA(header);
    if (header->nlmsg_type == NLMSG_ERROR) return false;
    if (route->rtm_type != RTN_UNICAST && route->rtm_type != RTN_LOCAL) return false;
    size_t length = family == AF_INET ? 4 : 16;
    int remaining = RTM_PAYLOAD(header);
    for (struct rtattr *a = RTM_RTA(route); RTA_OK(a, remaining); a = RTA_NEXT(a, remaining)) {
        if (a->rta_type == RTA_OIF) memcpy(&path->interface, RTA_DATA(a), sizeof path->interface);
        if (a->rta_type == RTA_GATEWAY) memcpy(path->gateway, RTA_DATA(a), length);
        if (a->rta_type == RTA_PREFSRC) memcpy(path->source, RTA_DATA(a), length);
    }
    return true;
}

static inline bool look_up(int fd, int family, const void *destination, const void *source, struct path *path) {
    char request[128] __attribute__((aligned(NLMSG_ALIGNTO))), answer[4096];
    put_lookup(request, 0, family, destination, source);
    if (ask(fd, (struct nlmsghdr *)request, answer, sizeof answer) != 0) return false;
    return parse_lookup((struct nlmsghdr *)answer, family, path);
}

/// Returns whether a source can send to the internet: it is set, and is neither ::1 nor link-local.
static inline bool source_is_usable(const struct path *path) {
    static const unsigned char none[16], loopback[16] = {[15] = 1};
    if (memcmp(path->source, none, 16) == 0 || memcmp(path->source, loopback, 16) == 0) return false;
    return path->family == AF_INET || !(path->source[0] == 0xfe && (path->source[1] & 0xc0) == 0x80);
}

static inline bool has_path(int fd, struct links *links, int family, const void *destination, struct path *path) {
    if (!look_up(fd, family, destination, NULL, path) || !source_is_usable(path)) return false;
    struct path repeated;  // An IPv4 socket does the same. Only this second lookup applies rules on the source.
    if (family == AF_INET && !look_up(fd, family, destination, path->source, &repeated)) return false;
    struct link link = link_of(fd, links, path->interface);
    memcpy(path->name, link.name, sizeof path->name);
    unsigned needed = IFF_UP | IFF_LOWER_UP;
    return (link.flags & needed) == needed;
}

/// Returns the path of a majority of well-known public addresses, of IPv4, otherwise of IPv6.
static inline struct path evaluate(int fd, int last_interface) {
    static const char *const ipv4[] = {"1.1.1.1",  "8.8.8.8",    "9.9.9.9",        "208.67.222.222",
                                       "4.2.2.2",  "64.6.64.6",  "193.110.81.0",   "198.41.0.4"};
    static const char *const ipv6[] = {"2606:4700:4700::1111", "2001:4860:4860::8888", "2620:fe::fe",
                                       "2620:119:35::35", "2001:503:ba3e::2:30"};
    const struct { int family, count; const char *const *texts; } sets[] = {{AF_INET, 8, ipv4}, {AF_INET6, 5, ipv6}};

    struct links links = {0};
    link_of(fd, &links, last_interface);  // The query waits for the end of the change that caused the event.
    for (int set = 0; set < 2; set++) {
        struct path found = {0};
        int yes = 0, no = 0, majority = sets[set].count / 2 + 1;
        for (int i = 0; i < sets[set].count && yes < majority && no <= sets[set].count - majority; i++) {
            unsigned char destination[16];
            inet_pton(sets[set].family, sets[set].texts[i], destination);
            struct path path;
            if (!has_path(fd, &links, sets[set].family, destination, &path)) no++;
            else if (yes++ == 0) found = path;
        }
        if (yes >= majority) {
            found.reachable = 1;
            return found;
        }
    }
    return (struct path){0};
}

static inline void print_path(const struct path *path) {
    char line[256], gateway[INET6_ADDRSTRLEN] = "-", source[INET6_ADDRSTRLEN] = "-";
    if (path->reachable) {
        inet_ntop(path->family, path->gateway, gateway, sizeof gateway);
        inet_ntop(path->family, path->source, source, sizeof source);
    }
    int length = snprintf(line, sizeof line, "%lld %s %s %s %s\n", monotonic_nanoseconds(),
                          path->reachable ? "reachable" : "notReachable", path->reachable ? path->name : "-",
                          gateway, source);
    if (write(STDOUT_FILENO, line, length) < 0) fail("write");
}
