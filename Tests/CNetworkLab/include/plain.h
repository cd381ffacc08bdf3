#ifndef PLAIN_H
#define PLAIN_H

#include <stdint.h>

/// What a plain socket is to send.
enum lab_plain_kind { lab_plain_datagram, lab_plain_stream, lab_plain_echo };

/// A socket that is connected, or about to be, to a numeric address, through the device of its zone (`fe80::1%p0`, `192.0.2.1%p0`), from a source unless that is
/// NULL. It waits for nothing. An echo needs a group of net.ipv4.ping_group_range; see icmp(7).
int lab_plain_socket(enum lab_plain_kind kind, const char *source, const char *address, uint16_t port);

#endif
