#define _GNU_SOURCE
#include "CNetworkLab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

int lab_unshare_network(void) { return unshare(CLONE_NEWNET); }

int lab_enter_network(int descriptor) { return setns(descriptor, CLONE_NEWNET); }

int lab_bind_mount(const char *source, const char *target) { return mount(source, target, NULL, MS_BIND, NULL); }

int lab_unmount(const char *target) { return umount2(target, MNT_DETACH); }

static int close_keeping_errno(int descriptor) {
    int saved = errno;
    close(descriptor);
    errno = saved;
    return -1;
}

int lab_memory_file(const void *bytes, size_t count) {
    int file = memfd_create("lab", MFD_CLOEXEC);
    if (file < 0) return -1;
    fchmod(file, 0600);  // Some programs refuse settings that other users may write.
    if (write(file, bytes, count) != (ssize_t)count || lseek(file, 0, SEEK_SET) != 0) return close_keeping_errno(file);
    return file;
}

int lab_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int lab_drop_capability(int capability) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) < 0) return -1;
    data[CAP_TO_INDEX(capability)].effective &= ~CAP_TO_MASK(capability);
    return (int)syscall(SYS_capset, &header, data);
}

int lab_become_nobody(void) {
    // The functions of the library would change all threads.
    if (syscall(SYS_setgroups, 0, NULL) < 0) return -1;
    if (syscall(SYS_setresgid, 65534, 65534, 65534) < 0) return -1;
    return (int)syscall(SYS_setresuid, 65534, 65534, 65534);
}

int lab_leave_descriptors(int count) {
    if (unshare(CLONE_FILES) < 0) return -1;
    // A copy would keep a socket or pipe of another test open after that test has closed it.
    struct stat status;
    for (int copy = STDERR_FILENO + 1; copy < sysconf(_SC_OPEN_MAX); copy++)
        if (fstat(copy, &status) == 0 && (S_ISSOCK(status.st_mode) || S_ISFIFO(status.st_mode))) close(copy);
    int last[64], used = 0, descriptor;
    while ((descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0) last[used++ % 64] = descriptor;
    for (int i = 0; i < count && i < 64 && i < used; i++) close(last[i]);
    return 0;
}

int lab_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int lab_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? -1 : fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

int lab_tun_open(const char *name) {
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tun < 0) return -1;
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(tun, TUNSETIFF, &request) < 0) return close_keeping_errno(tun);
    return tun;
}

int lab_tun_set_persistent(int descriptor, int persistent) { return ioctl(descriptor, TUNSETPERSIST, persistent); }

int lab_tun_set_hardware_type(int descriptor, int type) { return ioctl(descriptor, TUNSETLINK, type); }

int lab_tun_set_carrier(int descriptor, int carrier) { return ioctl(descriptor, TUNSETCARRIER, &carrier); }

static int bound_socket(int type, uint16_t port) {
    int fd = socket(AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int off = 0, on = 1;
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any};
    if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, (struct sockaddr *)&any, sizeof any) < 0)
        return close_keeping_errno(fd);
    return fd;
}

int lab_echo_socket(uint16_t port) {
    int fd = bound_socket(SOCK_DGRAM, port);
    int on = 1;
    if (fd < 0) return -1;
    // With free binding, the socket also answers from addresses that only a route of type local assigns to this machine.
    if (setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on) < 0 ||
        setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on) < 0)
        return close_keeping_errno(fd);
    return fd;
}

int lab_echo_once(int descriptor) {
    char bytes[2048];
    union { struct cmsghdr align; char bytes[256]; } control;
    struct sockaddr_in6 sender;
    struct iovec part = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr message = {.msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1,
                             .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t count = recvmsg(descriptor, &message, 0);
    if (count < 0) return errno == EAGAIN ? 0 : -1;
    part.iov_len = (size_t)count;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
        if (item->cmsg_level != IPPROTO_IPV6 || item->cmsg_type != IPV6_PKTINFO) continue;
        struct in6_pktinfo info;
        memcpy(&info, CMSG_DATA(item), sizeof info);
        info.ipi6_ifindex = 0;  // The routes select the interface of the answer.
        memcpy(CMSG_DATA(item), &info, sizeof info);
    }
    sendmsg(descriptor, &message, 0);
    return 1;
}

int lab_listening_socket(uint16_t port) {
    int fd = bound_socket(SOCK_STREAM, port);
    if (fd >= 0 && listen(fd, 512) < 0) return close_keeping_errno(fd);
    return fd;
}

static int unix_socket_at(const char *path, int type) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return errno = ENAMETOOLONG, -1;
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, type, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) < 0) return close_keeping_errno(fd);
    return fd;
}

int lab_socket_at(const char *address, uint16_t port, int stream) {
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = stream ? SOCK_STREAM : SOCK_DGRAM};
    struct addrinfo *found;
    char service[8];
    if (*address == '/') return unix_socket_at(address, hints.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC);
    snprintf(service, sizeof service, "%u", port);
    if (getaddrinfo(address, service, &hints, &found) != 0) return errno = EINVAL, -1;
    int on = 1;
    int fd = socket(found->ai_family, hints.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
                    setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof on) < 0 ||
                    (found->ai_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0) ||
                    bind(fd, found->ai_addr, found->ai_addrlen) < 0))
        fd = close_keeping_errno(fd);
    freeaddrinfo(found);
    return fd;
}

int lab_accept(int descriptor) { return accept4(descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC); }

int lab_bound_port(int descriptor) {
    struct sockaddr_in6 address;
    socklen_t length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) < 0) return -1;
    return ntohs(address.sin6_port);  // sin_port has the same offset.
}

int lab_accept_once(int descriptor) {
    int fd = accept4(descriptor, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return errno == EAGAIN ? 0 : -1;
    close(fd);
    return 1;
}

int lab_connect(const char *address, uint16_t port, int stream) {
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    char plain[INET6_ADDRSTRLEN] = "";
    const char *zone = strchr(address, '%');
    size_t length = zone ? (size_t)(zone - address) : strlen(address);
    if (length >= sizeof plain) { errno = EINVAL; return -1; }
    memcpy(plain, address, length);
    if (zone) v6.sin6_scope_id = if_nametoindex(zone + 1);
    int is4 = inet_pton(AF_INET, plain, &v4.sin_addr) == 1;
    if (!is4 && inet_pton(AF_INET6, plain, &v6.sin6_addr) != 1) { errno = EINVAL; return -1; }
    int type = (stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(is4 ? AF_INET : AF_INET6, type, 0);
    if (fd < 0) return -1;
    struct linger abrupt = {.l_onoff = 1, .l_linger = 0};  // No connection stays open after a probe.
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
    if (zone && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, zone + 1, (socklen_t)strlen(zone + 1)) < 0)
        return close_keeping_errno(fd);
    int status = is4 ? connect(fd, (struct sockaddr *)&v4, sizeof v4) : connect(fd, (struct sockaddr *)&v6, sizeof v6);
    if (status < 0 && errno != EINPROGRESS) return close_keeping_errno(fd);
    return fd;
}

int lab_socket_error(int descriptor) {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error;
}
