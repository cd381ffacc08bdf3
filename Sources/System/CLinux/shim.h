/* Wrappers of functions that Swift cannot import, each with the reason. Constants and structures come from the headers. */
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <netinet/in.h> /* before the kernel headers, so that these do not define in6_addr again */
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
#include <linux/inet_diag.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/magic.h>
#include <linux/net_tstamp.h>
#include <linux/netlink.h>
#include <linux/nexthop.h>
#include <linux/nl80211.h>
#include <linux/nsfs.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/wireguard.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* setns(2) is declared only for _GNU_SOURCE, which a module map cannot define for <sched.h>. */
static inline int clinux_setns(int fd, int kind) { return (int)syscall(SYS_setns, fd, kind); }

/* unshare(2) is declared only for _GNU_SOURCE. The flags are CLONE_FS and CLONE_NEWNS: the calling thread gets a private
   mount table. */
static inline int clinux_unshare_mounts(void) { return (int)syscall(SYS_unshare, 0x00000200 | 0x00020000); }

/* CLONE_NEWNET is defined only for _GNU_SOURCE. */
enum { clinux_clone_newnet = 0x40000000 };

/* pidfd_open(2) has no wrapper in older versions of glibc. The kernel sets close-on-exec. */
static inline int clinux_pidfd_open(int number) { return (int)syscall(SYS_pidfd_open, number, 0); }

/* memfd_create(2) is declared only for _GNU_SOURCE. 1 is MFD_CLOEXEC. */
static inline int clinux_memfd_create(void) { return (int)syscall(SYS_memfd_create, "request", 1U); }

/* renameat2(2) is declared only for _GNU_SOURCE. -100 is AT_FDCWD, 1 is RENAME_NOREPLACE. */
static inline int clinux_rename_new(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 1U);
}

/* ioctl(2) is variadic. NS_GET_NSTYPE returns the type of the namespace of an nsfs file. */
static inline int clinux_is_network_namespace(int fd) { return ioctl(fd, NS_GET_NSTYPE) == clinux_clone_newnet; }

/* ppoll(2) is declared only for _GNU_SOURCE. Its timeout has a resolution of nanoseconds. Without a limit it waits
   indefinitely. */
static inline int clinux_ppoll_readable(int fd, const struct timespec *limit) {
    struct pollfd poll = {.fd = fd, .events = POLLIN};
    struct timespec rest = limit ? *limit : (struct timespec){0, 0};
    return (int)syscall(SYS_ppoll, &poll, 1, limit ? &rest : (void *)0, (void *)0, 0);
}

/* Waits indefinitely until one of two descriptors is readable. */
static inline int clinux_poll_readable(int one, int other) {
    struct pollfd polls[] = {{.fd = one, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    return poll(polls, 2, -1);
}

/* A received datagram: the number of bytes in the buffer, and the netlink port of the sender. */
struct clinux_datagram {
    unsigned length;
    unsigned sender;
    int is_truncated;
};

/* recvmmsg(2) and struct mmsghdr are declared only for _GNU_SOURCE. Receives the pending datagrams, at most `count` of at
   most `size` bytes each, into consecutive parts of `buffer`. On a blocking socket it waits for the first datagram. */
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

/* The value of this option depends on the size of time_t, so its macro is not a constant. */
enum { clinux_so_timestamping = SO_TIMESTAMPING };

/* The layout of a message of sendmmsg(2) and recvmmsg(2) in a slot of memory: the address, the control messages, and the
   payload in the rest of the slot. struct clinux_message contains the length of each in bytes. */
enum { clinux_name_size = 32, clinux_control_size = 256, clinux_batch_size = 64 };
struct clinux_message {
    unsigned name, control, payload;
    int flags;
};

/* struct mmsghdr is declared only for _GNU_SOURCE. A batch of slots of `size` bytes. */
struct clinux_batch {
    struct { struct msghdr head; unsigned length; } messages[clinux_batch_size];
    struct iovec parts[clinux_batch_size];
};
static inline void clinux_lay_out(struct clinux_batch *batch, void *slots, unsigned size,
                                  const struct clinux_message *messages, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        char *slot = (char *)slots + (size_t)i * size;
        batch->parts[i] = (struct iovec){.iov_base = slot + clinux_name_size + clinux_control_size,
                                         .iov_len = messages[i].payload};
        batch->messages[i].length = 0;
        batch->messages[i].head = (struct msghdr){
            .msg_name = messages[i].name ? slot : (void *)0, .msg_namelen = messages[i].name,
            .msg_iov = &batch->parts[i], .msg_iovlen = 1,
            .msg_control = messages[i].control ? slot + clinux_name_size : (void *)0,
            .msg_controllen = messages[i].control};
    }
}

/* Receives pending messages without waiting. With MSG_ERRQUEUE it reads the error queue. Returns the number of messages,
   or -1 with errno. */
static inline int clinux_receive_messages(int fd, int flags, void *slots, unsigned size,
                                          struct clinux_message *messages, unsigned count) {
    struct clinux_batch batch;
    if (count > clinux_batch_size) count = clinux_batch_size;
    for (unsigned i = 0; i < count; i++) {
        messages[i] = (struct clinux_message){.name = clinux_name_size, .control = clinux_control_size,
                                              .payload = size - clinux_name_size - clinux_control_size};
    }
    clinux_lay_out(&batch, slots, size, messages, count);
    int received = (int)syscall(SYS_recvmmsg, fd, batch.messages, count, flags | MSG_DONTWAIT, (void *)0);
    for (int i = 0; i < received; i++) {
        messages[i] = (struct clinux_message){
            .name = batch.messages[i].head.msg_namelen, .control = (unsigned)batch.messages[i].head.msg_controllen,
            .payload = batch.messages[i].length, .flags = batch.messages[i].head.msg_flags};
    }
    return received;
}

/* Sends messages without waiting. Returns the number of accepted messages, or -1 with errno if the first was refused. */
static inline int clinux_send_messages(int fd, void *slots, unsigned size, const struct clinux_message *messages,
                                       unsigned count) {
    struct clinux_batch batch;
    if (count > clinux_batch_size) count = clinux_batch_size;
    clinux_lay_out(&batch, slots, size, messages, count);
    return (int)syscall(SYS_sendmmsg, fd, batch.messages, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* struct epoll_event is packed on some architectures, and contains a union. */
static inline int clinux_epoll_set(int epoll, int operation, int fd, unsigned events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return epoll_ctl(epoll, operation, fd, &event);
}
struct clinux_ready {
    uint64_t token;
    unsigned events;
};
static inline int clinux_epoll_wait(int epoll, struct clinux_ready *ready, int count, int milliseconds) {
    enum { limit = 64 };
    struct epoll_event events[limit];
    int found = epoll_wait(epoll, events, count < limit ? count : limit, milliseconds);
    for (int i = 0; i < found; i++) {
        ready[i] = (struct clinux_ready){.token = events[i].data.u64, .events = events[i].events};
    }
    return found;
}

/* ioctl(2) is variadic. SIOCGSKNS returns a new descriptor of the socket's network namespace. */
static inline int clinux_siocgskns(int fd) { return ioctl(fd, SIOCGSKNS); }

/* ioctl(2) is variadic. ETHTOOL_GDRVINFO returns the driver of a network device, by the name of the device. */
static inline int clinux_ethtool_drvinfo(int fd, const char *name, struct ethtool_drvinfo *information) {
    struct ifreq request = {.ifr_data = (char *)information};
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    information->cmd = ETHTOOL_GDRVINFO;
    return ioctl(fd, SIOCETHTOOL, &request);
}

#endif
