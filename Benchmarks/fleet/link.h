/* One connection, plain or over TLS, that never blocks. */
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

/* Begins to connect; the kernel gives up what the other side does not acknowledge for `patience` seconds. epoll is told of it with
   `number`, by edges. */
void link_begin(struct link *link, int epoll, uint32_t number, const struct sockaddr_in *from, const struct sockaddr_in *to, SSL_CTX *tls, unsigned patience);
/* Goes on as far as it can: -1 if the connection is over. */
int link_work(struct link *link);
/* Sends what it can of what waits: -1 if the connection is over. */
int link_put(struct link *link);
/* Ends it without a word, as if it broke. */
void link_cut(struct link *link);

#endif
