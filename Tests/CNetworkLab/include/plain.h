#ifndef PLAIN_H
#define PLAIN_H

#include <stdint.h>

/// The kind of packet that a socket sends.
enum lab_plain_kind { lab_plain_datagram, lab_plain_stream, lab_plain_echo };

/// Returns a socket that is connected, or is being connected, to a numeric address through the device of its zone (`fe80::1%p0`,
/// `192.0.2.1%p0`). A source of NULL means any source. The function does not wait. An echo requires a group of
/// net.ipv4.ping_group_range; see icmp(7).
int lab_plain_socket(enum lab_plain_kind kind, const char *source, const char *address, uint16_t port);

#endif
