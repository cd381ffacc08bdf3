/* A non-blocking connection over TCP or TLS. */
#ifndef LINK_H
#define LINK_H

#include <netinet/in.h>
#include <openssl/ssl.h>

#include "bytes.h"

struct link {
    enum { link_closed, link_opening, link_securing, link_open } phase;
    int fd;
    SSL *tls;
    struct bytes in, out;
};

/* Starts to connect. After `patience` seconds without an acknowledgement the kernel closes the connection (TCP_USER_TIMEOUT). Registers
   the socket with epoll, edge-triggered, with `number` as data. */
void link_begin(struct link *link, int epoll, uint32_t number, const struct sockaddr_in *from, const struct sockaddr_in *to, SSL_CTX *tls, unsigned patience);
/* Continues connecting, handshake, sending and receiving. Returns -1 if the connection has ended. */
int link_work(struct link *link);
/* Sends as much of the output buffer as possible. Returns -1 if the connection has ended. */
int link_put(struct link *link);
/* Closes the connection with RST, as if it was interrupted. */
void link_cut(struct link *link);

#endif
