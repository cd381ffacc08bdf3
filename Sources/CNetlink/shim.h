/* What Swift cannot import by itself, one reason per function. Constants and structures come from the headers. */
#ifndef CNETLINK_SHIM_H
#define CNETLINK_SHIM_H

#include <netinet/in.h> /* before the kernel headers, which then leave in6_addr to it */
#include <net/if.h>     /* likewise for ifreq */

#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/netconf.h>
#include <linux/netlink.h>
#include <linux/nexthop.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/route/route.h>
#include <netlink/socket.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* setns(2) is declared only for _GNU_SOURCE, which a module map cannot define for <sched.h>. */
static inline int cnetlink_setns(int fd, int kind) { return (int)syscall(SYS_setns, fd, kind); }

/* CLONE_NEWNET hides behind _GNU_SOURCE too. */
enum { cnetlink_new_network_namespace = 0x40000000 };

/* ppoll(2), poll(2) with a limit finer than a millisecond, is declared only for _GNU_SOURCE. */
static inline int cnetlink_wait_readable(int fd, const struct timespec *limit) {
    struct pollfd poll = {.fd = fd, .events = POLLIN};
    struct timespec rest = limit ? *limit : (struct timespec){0, 0};
    return (int)syscall(SYS_ppoll, &poll, 1, limit ? &rest : (void *)0, (void *)0, 0);
}

/* ioctl(2) is variadic. SIOCGSKNS answers with a new descriptor of the socket's network namespace. */
static inline int cnetlink_namespace_of_socket(int fd) { return ioctl(fd, SIOCGSKNS); }

/* ioctl(2) is variadic. ETHTOOL_GDRVINFO asks a device, by its name, for its driver. */
static inline int cnetlink_driver_information(int fd, const char *name, struct ethtool_drvinfo *information) {
    struct ifreq request = {.ifr_data = (char *)information};
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    information->cmd = ETHTOOL_GDRVINFO;
    return ioctl(fd, SIOCETHTOOL, &request);
}

#endif
