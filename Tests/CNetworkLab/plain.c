#define _GNU_SOURCE
#include "plain.h"

#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct addrinfo *numeric(const char *address, uint16_t port, int family) {
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    if (getaddrinfo(address, service, &hints, &found) != 0) errno = EINVAL;
    return found;
}

int lab_plain_socket(enum lab_plain_kind kind, const char *source, const char *address, uint16_t port) {
    // getaddrinfo supports only zones of IPv6.
    char plain[INET6_ADDRSTRLEN + IF_NAMESIZE] = "";
    const char *zone = strchr(address, ':') ? NULL : strchr(address, '%');
    if (strlen(address) >= sizeof plain) { errno = EINVAL; return -1; }
    memcpy(plain, address, zone ? (size_t)(zone - address) : strlen(address));
    struct addrinfo *far = numeric(plain, port, AF_UNSPEC);
    if (!far) return -1;
    int type = (kind == lab_plain_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int protocol = kind != lab_plain_echo ? 0 : far->ai_family == AF_INET6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
    int fd = socket(far->ai_family, type, protocol);
    int status = fd;
    if (fd >= 0 && zone)
        status = setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, zone + 1, (socklen_t)strlen(zone + 1)) < 0 ? -1 : fd;
    if (status >= 0 && source) {
        struct addrinfo *near = numeric(source, 0, far->ai_family);
        status = near ? bind(fd, near->ai_addr, near->ai_addrlen) : -1;
        if (near) freeaddrinfo(near);
    }
    if (status >= 0) {
        struct linger abrupt = {.l_onoff = 1, .l_linger = 0};  // No connection stays open after a probe.
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
        status = connect(fd, far->ai_addr, far->ai_addrlen);
        if (status < 0 && errno == EINPROGRESS) status = 0;
    }
    int saved = errno;
    freeaddrinfo(far);
    if (status >= 0) return fd;
    if (fd >= 0) close(fd);
    errno = saved;
    return -1;
}
