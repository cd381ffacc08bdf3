// A complete monitor in C for many addresses. It reads all pending messages, finds the affected addresses, waits for the change
// with a link query, looks up only these addresses, many in one system call, and prints the changes. It first prints the current
// state of all addresses, one line for each: CLOCK_MONOTONIC nanoseconds, status, interface, address.
//
// lookup-many [--plain] [--file FILE] [ADDRESS ...]
// --plain: lookups are not repeated with their source.
#define _GNU_SOURCE
#include <poll.h>

#include "filter.h"
#include "lookup.h"

enum { BATCH = 32, REQUEST = 80, ANSWER = 4096 };

struct monitor {
    struct targets targets;
    bool *concerned;  // By position in `targets`.
    bool plain;
    int events, questions;
};

/// One lookup of a batch, and its result.
struct question {
    struct target *target;
    bool found;
    struct path path;
};

// MARK: affected addresses

static void concern(struct monitor *monitor, int first, int end) {
    memset(monitor->concerned + first, true, (end - first) * sizeof(bool));
}

static void hear(struct monitor *monitor, struct nlmsghdr *header) {
    struct rtmsg *route = NLMSG_DATA(header);
    int first = 0, end = monitor->targets.count;
    if ((header->nlmsg_type == RTM_NEWROUTE || header->nlmsg_type == RTM_DELROUTE) && route->rtm_dst_len > 0) {
        int remaining = RTM_PAYLOAD(header);
        for (struct rtattr *a = RTM_RTA(route); RTA_OK(a, remaining); a = RTA_NEXT(a, remaining))
            if (a->rta_type == RTA_DST)
                targets_within(&monitor->targets, route->rtm_family, RTA_DATA(a), route->rtm_dst_len, &first, &end);
    }
    concern(monitor, first, end);
}

static void drain(struct monitor *monitor) {
    char message[32768];
    for (;;) {
        int remaining = recv(monitor->events, message, sizeof message, MSG_DONTWAIT);
        if (remaining < 0) {
            if (errno == EAGAIN) return;
            if (errno == ENOBUFS) concern(monitor, 0, monitor->targets.count);
            else if (errno != EINTR) fail("recv");
            continue;
        }
        for (struct nlmsghdr *h = (struct nlmsghdr *)message; NLMSG_OK(h, remaining); h = NLMSG_NEXT(h, remaining))
            hear(monitor, h);
    }
}

// MARK: lookups

/// Sends the batch with one call, and receives the answers, which are separate datagrams, with as few calls as possible.
static void ask_batch(int fd, struct question *batch, int count, bool with_source) {
    static uint32_t sequence = 1u << 31;  // A separate range from that of ask().
    static char requests[BATCH * REQUEST] __attribute__((aligned(NLMSG_ALIGNTO)));
    static char answers[BATCH][ANSWER] __attribute__((aligned(NLMSG_ALIGNTO)));
    uint32_t first = sequence;
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += put_lookup(requests + length, sequence++, batch[i].target->family, batch[i].target->address,
                             with_source ? batch[i].path.source : NULL);
    if (send(fd, requests, length, 0) < 0) fail("send");
    for (int answered = 0; answered < count;) {
        struct iovec parts[BATCH];
        struct mmsghdr messages[BATCH];
        memset(messages, 0, sizeof messages);
        for (int i = 0; i < count - answered; i++) {
            parts[i] = (struct iovec){answers[i], ANSWER};
            messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
        }
        int received = recvmmsg(fd, messages, count - answered, MSG_WAITFORONE, NULL);
        if (received < 0) fail("recvmmsg");
        for (int i = 0; i < received; i++) {
            struct nlmsghdr *header = (struct nlmsghdr *)answers[i];
            uint32_t number = header->nlmsg_seq - first;
            if (number >= (uint32_t)count) continue;
            struct path path;
            batch[number].found = parse_lookup(header, batch[number].target->family, &path);
            if (!with_source) batch[number].path = path;
            answered++;
        }
    }
}

static void print_target(const struct target *target, const char *name) {
    char line[128], address[INET6_ADDRSTRLEN];
    inet_ntop(target->family, target->address, address, sizeof address);
    int length = snprintf(line, sizeof line, "%lld %s %s %s\n", monotonic_nanoseconds(),
                          target->reachable ? "reachable" : "notReachable", target->reachable ? name : "-", address);
    if (write(STDOUT_FILENO, line, length) < 0) fail("write");
}

static void judge(struct monitor *monitor, struct links *links, struct question *batch, int count) {
    struct question repeated[BATCH];
    int repeats = 0;
    ask_batch(monitor->questions, batch, count, false);
    for (int i = 0; i < count; i++) {
        batch[i].found = batch[i].found && source_is_usable(&batch[i].path);
        if (batch[i].found && batch[i].target->family == AF_INET && !monitor->plain) repeated[repeats++] = batch[i];
    }
    if (repeats) ask_batch(monitor->questions, repeated, repeats, true);
    for (int i = 0, r = 0; i < count; i++) {
        struct target *target = batch[i].target;
        bool reachable = batch[i].found;
        if (r < repeats && repeated[r].target == target) reachable = repeated[r++].found;
        struct link link = {0};
        if (reachable) link = link_of(monitor->questions, links, batch[i].path.interface);
        reachable = reachable && (link.flags & IFF_UP) && (link.flags & IFF_LOWER_UP);
        int interface = reachable ? link.index : 0;
        if (target->reachable == reachable && target->interface == interface) continue;
        bool told = target->reachable == reachable;  // Only the status counts, as for `reachability watch` without --paths.
        target->reachable = reachable;
        target->interface = interface;
        if (!told) print_target(target, link.name);
    }
}

static void evaluate_concerned(struct monitor *monitor) {
    struct links links = {0};
    struct question batch[BATCH];
    int count = 0;
    for (int i = 0; i < monitor->targets.count; i++) {
        if (!monitor->concerned[i]) continue;
        monitor->concerned[i] = false;
        if (links.count == 0) link_of(monitor->questions, &links, 1);  // The query waits for the end of the change.
        batch[count++] = (struct question){.target = &monitor->targets.all[i]};
        if (count == BATCH) {
            judge(monitor, &links, batch, count);
            count = 0;
        }
    }
    if (count) judge(monitor, &links, batch, count);
}

int main(int count, char **arguments) {
    struct monitor monitor = {.plain = count > 1 && strcmp(arguments[1], "--plain") == 0};
    monitor.targets = read_targets(arguments + (monitor.plain ? 2 : 1));
    monitor.concerned = malloc(monitor.targets.count * sizeof(bool) + 1);
    monitor.events = open_netlink(0);
    monitor.questions = open_netlink(0);
    if (monitor.targets.count <= FILTER_TARGETS) attach_filter(monitor.events, &monitor.targets);
    join_events(monitor.events);
    concern(&monitor, 0, monitor.targets.count);
    for (;;) {
        evaluate_concerned(&monitor);
        struct pollfd wait = {.fd = monitor.events, .events = POLLIN};
        if (poll(&wait, 1, -1) > 0) drain(&monitor);
    }
}
