#ifndef C_NETWORK_LAB_H
#define C_NETWORK_LAB_H

// What a network laboratory needs from Linux and Swift cannot import: names behind _GNU_SOURCE, variadic
// functions and control-message macros. All return -1 and set errno when they fail.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "plain.h"
#include "sandbox.h"

/// Gives the calling thread a new, empty network namespace; see unshare(2).
int lab_unshare_network(void);

/// Moves the calling thread into the network namespace of a descriptor; see setns(2).
int lab_enter_network(int descriptor);

/// Shows a file at a second path; see mount(2), MS_BIND.
int lab_bind_mount(const char *source, const char *target);

/// Takes a mount away at once; see umount2(2), MNT_DETACH.
int lab_unmount(const char *target);

/// An anonymous file holding these bytes, read from its beginning; see memfd_create(2).
int lab_memory_file(const void *bytes, size_t count);

/// A descriptor that becomes readable when the process ends; see pidfd_open(2).
int lab_process_descriptor(pid_t process);

/// Takes a capability from the calling thread, as far as it uses any; see capset(2), capabilities(7).
int lab_drop_capability(int capability);

/// Makes the calling thread, and no other, one of the user and group 65534, without capabilities; see setresuid(2).
int lab_become_nobody(void);

/// Gives the calling thread a table of descriptors of its own, full but for so many; see unshare(2), CLONE_FILES.
int lab_leave_descriptors(int count);

/// A pipe that children do not inherit; see pipe2(2), O_CLOEXEC.
int lab_pipe(int ends[2]);

/// Makes reads return at once; see O_NONBLOCK.
int lab_set_nonblocking(int descriptor);

/// A tun device without packet headers, made or attached in the thread's namespace; see TUNSETIFF.
int lab_tun_open(const char *name);

/// Whether the tun device outlives its descriptor; see TUNSETPERSIST.
int lab_tun_set_persistent(int descriptor, int persistent);

/// The hardware type (ARPHRD_...) of a tun device that is down; see TUNSETLINK.
int lab_tun_set_hardware_type(int descriptor, int type);

/// Plugs or unplugs the tun device's cable; see TUNSETCARRIER.
int lab_tun_set_carrier(int descriptor, int carrier);

/// A UDP socket for IPv4 and IPv6 that learns the address each datagram was sent to.
int lab_echo_socket(uint16_t port);

/// Sends one waiting datagram back, from the address it was sent to. Returns 0 when none waits.
int lab_echo_once(int descriptor);

/// A TCP socket listening for IPv4 and IPv6.
int lab_listening_socket(uint16_t port);

/// Accepts one waiting connection, which children do not inherit; see accept4(2). -1 when none waits.
int lab_accept(int descriptor);

/// The port a socket is bound to, or -1; see getsockname(2).
int lab_bound_port(int descriptor);

/// Accepts and closes one waiting connection. Returns 0 when none waits.
int lab_accept_once(int descriptor);

/// Binds a UDP socket, or one of TCP (stream), to a numeric address, which may have a zone (`fe80::1%r0`), see getaddrinfo(3), and need not
/// exist yet, see IP_FREEBIND of ip(7). `::` is for IPv6 only. An absolute path is that of a Unix socket, see unix(7).
int lab_socket_at(const char *address, uint16_t port, int stream);

/// Begins a TCP (stream) or UDP connection to a numeric address, without waiting. It is bound to the device of a zone (`fe80::1%c0`,
/// `192.0.2.1%c0`), see SO_BINDTODEVICE.
/// The descriptor, or -1.
int lab_connect(const char *address, uint16_t port, int stream);

/// The pending error of a socket; see SO_ERROR.
int lab_socket_error(int descriptor);

#endif
