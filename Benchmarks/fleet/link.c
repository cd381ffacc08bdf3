#include "link.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

void link_begin(struct link *link, int epoll, uint32_t number, const struct sockaddr_in *from, const struct sockaddr_in *to, SSL_CTX *tls, unsigned patience) {
    int yes = 1;
    unsigned milliseconds = patience * 1000;
    /* Closing sends RST, so that no connection keeps its port in TIME_WAIT. */
    struct linger at_once = {1, 0};
    *link = (struct link){.phase = link_opening, .fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (link->fd < 0) die("socket");
    setsockopt(link->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(link->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
    setsockopt(link->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    if (bind(link->fd, (const struct sockaddr *)from, sizeof *from) < 0) die("bind");
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = number};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, link->fd, &event) < 0) die("epoll_ctl");
    if (tls) {
        link->tls = SSL_new(tls);
        if (!link->tls || !SSL_set_fd(link->tls, link->fd)) die("SSL_new");
        SSL_set_connect_state(link->tls);
    }
    /* The result is ignored: epoll reports when the attempt has succeeded or failed. */
    connect(link->fd, (const struct sockaddr *)to, sizeof *to);
}

/* Whether the operation must be repeated when the socket is ready. */
static int waits(struct link *link, int result) {
    if (!link->tls) return errno == EAGAIN;
    int reason = SSL_get_error(link->tls, result);
    ERR_clear_error();
    return reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE;
}

int link_put(struct link *link) {
    while (link->out.count > 0) {
        int size = link->out.count > 1 << 20 ? 1 << 20 : link->out.count;
        int done = link->tls ? SSL_write(link->tls, link->out.data, size) : send(link->fd, link->out.data, size, MSG_NOSIGNAL);
        if (done <= 0) return waits(link, done) ? 0 : -1;
        bytes_drop(&link->out, done);
    }
    return 0;
}

static int get(struct link *link) {
    static unsigned char room[64 << 10];
    while (1) {
        int done = link->tls ? SSL_read(link->tls, room, sizeof room) : recv(link->fd, room, sizeof room, 0);
        if (done == 0 && !link->tls) return -1;
        if (done <= 0) return waits(link, done) ? 0 : -1;
        bytes_add(&link->in, room, done);
    }
}

int link_work(struct link *link) {
    if (link->phase == link_opening) {
        struct tcp_info info;
        int error = 0;
        socklen_t size = sizeof error, room = sizeof info;
        getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0 || getsockopt(link->fd, IPPROTO_TCP, TCP_INFO, &info, &room) < 0) return -1;
        if (info.tcpi_state == TCP_SYN_SENT) return 0;
        link->phase = link->tls ? link_securing : link_open;
    }
    if (link->phase == link_securing) {
        int done = SSL_do_handshake(link->tls);
        if (done <= 0) return waits(link, done) ? 0 : -1;
        link->phase = link_open;
    }
    /* Data received before the end of the connection is still used. */
    int result = link_put(link);
    return get(link) < 0 ? -1 : result;
}

void link_cut(struct link *link) {
    if (link->phase == link_closed) return;
    SSL_free(link->tls);
    close(link->fd);
    bytes_drop(&link->in, link->in.count);
    bytes_drop(&link->out, link->out.count);
    *link = (struct link){.fd = -1};
}
