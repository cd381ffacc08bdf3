#ifndef C_NETWORK_LAB_H
#define C_NETWORK_LAB_H

// Functions of Linux that Swift cannot import: those that require _GNU_SOURCE, variadic functions, and macros of control
// messages. All return -1 and set errno if they fail.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "plain.h"
#include "sandbox.h"

/// Gives the calling thread a new, empty network namespace; see unshare(2).
int lab_unshare_network(void);

/// Moves the calling thread into the network namespace of a descriptor; see setns(2).
int lab_enter_network(int descriptor);

/// Mounts a file at a second path; see mount(2), MS_BIND.
int lab_bind_mount(const char *source, const char *target);

/// Unmounts a path immediately; see umount2(2), MNT_DETACH.
int lab_unmount(const char *target);

/// Creates an anonymous file with these bytes, whose position is its start; see memfd_create(2).
int lab_memory_file(const void *bytes, size_t count);

/// Returns a descriptor that becomes readable when the process ends; see pidfd_open(2).
int lab_process_descriptor(pid_t process);

/// Removes a capability from the effective set of the calling thread; see capset(2), capabilities(7).
int lab_drop_capability(int capability);

/// Changes the user and the group of the calling thread, and of no other thread, to 65534, without capabilities; see setresuid(2).
int lab_become_nobody(void);

/// Gives the calling thread a separate table of descriptors that has only this number of free descriptors; see unshare(2), CLONE_FILES.
int lab_leave_descriptors(int count);

/// Creates a pipe that child processes do not inherit; see pipe2(2), O_CLOEXEC.
int lab_pipe(int ends[2]);

/// Makes reads return immediately; see O_NONBLOCK.
int lab_set_nonblocking(int descriptor);

/// Creates a tun device without packet headers in the thread's namespace, or attaches to an existing one; see TUNSETIFF.
int lab_tun_open(const char *name);

/// Sets whether the tun device continues to exist after its descriptor is closed; see TUNSETPERSIST.
int lab_tun_set_persistent(int descriptor, int persistent);

/// Sets the hardware type (ARPHRD_...) of a tun device that is down; see TUNSETLINK.
int lab_tun_set_hardware_type(int descriptor, int type);

/// Sets or removes the carrier of the tun device; see TUNSETCARRIER.
int lab_tun_set_carrier(int descriptor, int carrier);

/// Creates a UDP socket for IPv4 and IPv6 that receives the destination address of each datagram.
int lab_echo_socket(uint16_t port);

/// Returns one pending datagram to its sender, from the address it was sent to. The result is 0 if none is pending.
int lab_echo_once(int descriptor);

/// Creates a TCP socket that listens for IPv4 and IPv6.
int lab_listening_socket(uint16_t port);

/// Accepts one pending connection, which child processes do not inherit; see accept4(2). Returns -1 if none is pending.
int lab_accept(int descriptor);

/// Returns the port that a socket is bound to, or -1; see getsockname(2).
int lab_bound_port(int descriptor);

/// Accepts and closes one pending connection. Returns 0 if none is pending.
int lab_accept_once(int descriptor);

/// Binds a UDP or TCP (stream) socket to a numeric address. The address may have a zone (`fe80::1%r0`), see getaddrinfo(3), and need
/// not be assigned yet, see IP_FREEBIND of ip(7). `::` is only for IPv6. An absolute path is the path of a Unix socket, see unix(7).
int lab_socket_at(const char *address, uint16_t port, int stream);

/// Starts a TCP (stream) or UDP connection to a numeric address, without waiting. The socket is bound to the device of a zone
/// (`fe80::1%c0`, `192.0.2.1%c0`), see SO_BINDTODEVICE.
/// Returns the descriptor, or -1.
int lab_connect(const char *address, uint16_t port, int stream);

/// Returns the pending error of a socket; see SO_ERROR.
int lab_socket_error(int descriptor);

#endif
