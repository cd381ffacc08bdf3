/* What Swift cannot import by itself, one reason per function. Constants and structures come from the headers. */
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <netinet/in.h> /* before the kernel headers, which then leave in6_addr to it */
#include <net/if.h>     /* likewise for ifreq */

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/nexthop.h>
#include <linux/nl80211.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* setns(2) is declared only for _GNU_SOURCE, which a module map cannot define for <sched.h>. */
static inline int clinux_setns(int fd, int kind) { return (int)syscall(SYS_setns, fd, kind); }

/* So is unshare(2), with CLONE_FS and CLONE_NEWNS: the calling thread gets a table of mounts of its own. */
static inline int clinux_unshare_mounts(void) { return (int)syscall(SYS_unshare, 0x00000200 | 0x00020000); }

/* CLONE_NEWNET hides behind _GNU_SOURCE too. */
enum { clinux_clone_newnet = 0x40000000 };

/* pidfd_open(2) has no wrapper in older libraries. Close-on-exec is set. */
static inline int clinux_pidfd_open(int number) { return (int)syscall(SYS_pidfd_open, number, 0); }

/* memfd_create(2) is declared only for _GNU_SOURCE. 1 is MFD_CLOEXEC. */
static inline int clinux_memfd_create(void) { return (int)syscall(SYS_memfd_create, "request", 1U); }

/* ioctl(2) is variadic. NS_GET_NSTYPE tells which kind of namespace a file of nsfs is. */
static inline int clinux_is_network_namespace(int fd) { return ioctl(fd, NS_GET_NSTYPE) == clinux_clone_newnet; }

/* ppoll(2), poll(2) with a limit finer than a millisecond, is declared only for _GNU_SOURCE. */
static inline int clinux_ppoll_readable(int fd, const struct timespec *limit) {
    struct pollfd poll = {.fd = fd, .events = POLLIN};
    struct timespec rest = limit ? *limit : (struct timespec){0, 0};
    return (int)syscall(SYS_ppoll, &poll, 1, limit ? &rest : (void *)0, (void *)0, 0);
}

/* The same without a limit, for either of two descriptors. */
static inline void clinux_poll_readable(int one, int other) {
    struct pollfd polls[] = {{.fd = one, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    poll(polls, 2, -1);
}

/* What is known of a datagram that was received: how long it is as far as it fitted, and the netlink port it came from. */
struct clinux_datagram {
    unsigned length;
    unsigned sender;
    int is_truncated;
};

/* recvmmsg(2) and struct mmsghdr are declared only for _GNU_SOURCE. Receives datagrams of at most `size` bytes each into
   consecutive parts of `buffer`, as many as are there, and waits for the first where the socket does. */
static inline int clinux_recvmmsg(int fd, void *buffer, unsigned size, unsigned count,
                                        struct clinux_datagram *datagrams) {
    enum { limit = 16 };
    struct { struct msghdr head; unsigned length; } messages[limit];
    struct sockaddr_nl senders[limit];
    struct iovec parts[limit];
    if (count > limit) count = limit;
    for (unsigned i = 0; i < count; i++) {
        parts[i] = (struct iovec){.iov_base = (char *)buffer + (size_t)i * size, .iov_len = size};
        messages[i].head = (struct msghdr){.msg_name = &senders[i], .msg_namelen = sizeof senders[i],
                                           .msg_iov = &parts[i], .msg_iovlen = 1};
        messages[i].length = 0;
    }
    int received = (int)syscall(SYS_recvmmsg, fd, messages, count, 0x10000 /* MSG_WAITFORONE */, (void *)0);
    for (int i = 0; i < received; i++) {
        datagrams[i] = (struct clinux_datagram){.length = messages[i].length, .sender = senders[i].nl_pid,
                                                  .is_truncated = (messages[i].head.msg_flags & MSG_TRUNC) != 0};
    }
    return received;
}

/* ioctl(2) is variadic. SIOCGSKNS answers with a new descriptor of the socket's network namespace. */
static inline int clinux_siocgskns(int fd) { return ioctl(fd, SIOCGSKNS); }

/* ioctl(2) is variadic. ETHTOOL_GDRVINFO asks a device, by its name, for its driver. */
static inline int clinux_ethtool_drvinfo(int fd, const char *name, struct ethtool_drvinfo *information) {
    struct ifreq request = {.ifr_data = (char *)information};
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    information->cmd = ETHTOOL_GDRVINFO;
    return ioctl(fd, SIOCETHTOOL, &request);
}

#endif
