import CLinux
import CNetlink
import Glibc
package import LinuxSupport

/// The owner of a libnl socket. The socket is permanently bound to the network namespace of the thread that opens it.
///
/// C counterpart: `nl_socket_alloc`, `nl_connect`, `netlink(7)`.
struct NetlinkSocket: ~Copyable {
    private let socket: OpaquePointer

    /// Opens a socket.
    ///
    /// - Parameter family: `NETLINK_ROUTE`, `NETLINK_GENERIC` or `NETLINK_SOCK_DIAG`.
    init(family: CInt) throws(NetlinkError) {
        guard let socket = nl_socket_alloc() else { throw NetlinkError("allocate a netlink socket", .noBufferSpace) }
        errno = 0
        let code = nl_connect(socket, family)
        guard code >= 0 else {
            let cause = errno == 0 ? SystemError.accessDenied : .current
            nl_socket_free(socket)
            throw NetlinkError("open a netlink socket", cause)
        }
        self.socket = socket
    }

    deinit {
        nl_socket_free(socket)
    }

    var descriptor: CInt { nl_socket_get_fd(socket) }

    /// The netlink port of this socket, which replies contain.
    var port: UInt32 { nl_socket_get_local_port(socket) }

    func setReceiveBuffer(bytes: CInt) {
        _ = nl_socket_set_buffer_size(socket, bytes, 0)
    }

    func setNonBlocking() throws(NetlinkError) {
        guard nl_socket_set_nonblocking(socket) >= 0 else { throw NetlinkError("configure a netlink socket", .current) }
    }

    /// Sets the receive timeout. The kernel answers a netlink request before `sendto(2)` returns, so the timeout only
    /// prevents a lost answer from blocking permanently.
    func setReceiveTimeout(seconds: Int) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    func join(_ group: MulticastGroup) throws(NetlinkError) {
        guard nl_socket_add_membership(socket, CInt(group.rawValue)) >= 0 else {
            throw NetlinkError("join netlink group \(group.rawValue)", .current)
        }
    }

    func leave(_ group: MulticastGroup) {
        _ = nl_socket_drop_membership(socket, CInt(group.rawValue))
    }

    /// Sets the filter of the socket. The kernel replaces an existing filter in one step.
    ///
    /// C counterpart: SO_ATTACH_FILTER of `socket(7)`.
    func attach(_ program: [FilterInstruction]) throws(SystemError) {
        var program = program.map(\.encoded)
        let code = program.withUnsafeMutableBufferPointer { program in
            var filter = sock_fprog(len: UInt16(program.count), filter: program.baseAddress)
            return setsockopt(
                descriptor,
                SOL_SOCKET,
                SO_ATTACH_FILTER,
                &filter,
                socklen_t(MemoryLayout<sock_fprog>.size)
            )
        }
        guard code == 0 else { throw .current }
    }

    /// Removes the filter, so that all messages pass. C counterpart: SO_DETACH_FILTER of `socket(7)`.
    func detachFilter() throws(SystemError) {
        var unused: CInt = 0
        let code = setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_DETACH_FILTER,
            &unused,
            socklen_t(MemoryLayout<CInt>.size)
        )
        guard code == 0 else { throw .current }
    }

    /// Sends one datagram, which may contain several requests, to the kernel.
    func send(_ bytes: borrowing [UInt8]) throws(NetlinkError) {
        let sent = bytes.withUnsafeBytes { bytes in
            nl_sendto(socket, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
        }
        guard sent >= 0 else { throw NetlinkError("send a netlink request", .current) }
    }
}

/// A buffer for several datagrams that are received with one system call.
struct DatagramBuffer: ~Copyable {
    /// The whole buffer, for a single long datagram.
    let bytes: UnsafeMutableRawBufferPointer
    private let heads: UnsafeMutableBufferPointer<clinux_datagram>
    /// The maximum size of a datagram in bytes. Longer ones are truncated.
    private let size: Int

    /// Allocates a buffer.
    ///
    /// - Parameter count: The number of datagrams, at most 16.
    init(count: Int, size: Int) {
        bytes = .allocate(byteCount: count * size, alignment: 16)
        heads = .allocate(capacity: count)
        heads.initialize(repeating: clinux_datagram())
        self.size = size
    }

    deinit {
        bytes.deallocate()
        heads.deallocate()
    }

    var count: Int { heads.count }

    /// One of the received datagrams: its bytes, the netlink port of its sender (0 is the kernel), and whether it is
    /// truncated.
    subscript(index: Int) -> (bytes: UnsafeRawBufferPointer, sender: UInt32, isCutOff: Bool) {
        let head = heads[index]
        let all = UnsafeRawBufferPointer(bytes)
        return (all.bytes(from: index * size, length: Int(head.length)), head.sender, head.is_truncated != 0)
    }

    /// Receives the available datagrams, as many as fit. Waits for one if the socket is blocking. Returns their number.
    ///
    /// C counterpart: `recvmmsg(2)`.
    func receive(from descriptor: CInt) throws(SystemError) -> Int {
        try SystemError.check {
            Int(clinux_recvmmsg(descriptor, bytes.baseAddress, UInt32(size), UInt32(heads.count), heads.baseAddress))
        }
    }
}

/// The interface that sockets are bound to (`sk_bound_dev_if`).
package enum SocketBinding {
    /// The interface to which new sockets of this process are bound, as at the first access; nil if they are not bound.
    /// `ip vrf exec` binds them with a BPF program of the control group (`ip-vrf(8)`).
    package static let ofNewSockets: UInt32? = {
        for family in [AF_INET, AF_INET6] {
            let number = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            if number >= 0 { return interface(of: Descriptor(owning: number)) }
        }
        return nil
    }()

    /// Returns the index of the interface that a socket is bound to; nil if it is not bound, and on kernels before 5.0.
    ///
    /// C counterpart: `getsockopt(2)` with SO_BINDTOIFINDEX.
    static func interface(of socket: borrowing Descriptor) -> UInt32? {
        var index: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(socket.number, SOL_SOCKET, SO_BINDTOIFINDEX, &index, &length) == 0, index > 0 else {
            return nil
        }
        return UInt32(index)
    }
}

/// A failure of a netlink socket: the attempt and the system's error.
package struct NetlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stage at which an operation failed.
    package enum Stage: Hashable, Sendable {
        /// The network namespace could not be entered: it does not exist, or the process is not permitted to enter it.
        case namespace
        /// The socket could not be opened, or did not answer.
        case socket
        /// The kernel accepted no filter. The socket receives everything.
        case filter
    }

    /// The attempted action, as the text after "cannot", for example `open a netlink socket`.
    package let attempt: String

    /// The system's error.
    package let cause: SystemError

    package let stage: Stage

    /// The missing capability that the attempt requires, if it is known.
    package let capability: Capability?

    package init(_ attempt: String, _ cause: SystemError, stage: Stage = .socket, capability: Capability? = nil) {
        self.capability = capability
        self.attempt = attempt
        self.cause = cause
        self.stage = stage
    }

    package init(_ error: NamespaceError) {
        self.init(
            error.attempt,
            error.cause,
            stage: error.isShortage ? .socket : .namespace,
            capability: error.capability
        )
    }

    /// The attempt and the error. The attempt is escaped, because the name of a namespace can contain any characters.
    package var description: String { "cannot \(attempt.printable): \(cause)" }
}

extension NamespaceEntry {
    /// Runs `body` with the identity of a namespace, on a new thread inside the namespace.
    package static func query<Value: Sendable>(
        inside namespace: NamespaceReference,
        _ body: @escaping @Sendable (NamespaceIdentity) throws(NetlinkError) -> Value
    ) throws(NetlinkError) -> Value {
        let answer: Result<Value, NetlinkError>
        do throws(NamespaceError) {
            answer = try run(inside: namespace) { identity in
                Result { () throws(NetlinkError) in try body(identity) }
            }
        } catch {
            throw NetlinkError(error)
        }
        return try answer.get()
    }
}
