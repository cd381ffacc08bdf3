import CLinux
import CNetlink
import Glibc
import LinuxSupport

/// The only owner of a libnl socket. It is bound to the network namespace of the thread that opens it, for ever.
///
/// C counterpart: `nl_socket_alloc`, `nl_connect`, `netlink(7)`.
struct NetlinkSocket: ~Copyable {
    private let socket: OpaquePointer

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

    /// The port the kernel knows this socket by; replies carry it.
    var port: UInt32 { nl_socket_get_local_port(socket) }

    func setReceiveBuffer(bytes: CInt) {
        _ = nl_socket_set_buffer_size(socket, bytes, 0)
    }

    func setNonBlocking() throws(NetlinkError) {
        guard nl_socket_set_nonblocking(socket) >= 0 else { throw NetlinkError("configure a netlink socket", .current) }
    }

    /// A netlink request is answered before `sendto(2)` returns; the limit only keeps a lost answer from blocking for ever.
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

    /// Lets the kernel leave out messages; a filter that is there is replaced, and no message is judged by neither.
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

    /// Lets every message through again. C counterpart: SO_DETACH_FILTER of `socket(7)`.
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

    /// Sends one datagram, which may hold several requests, to the kernel.
    func send(_ bytes: borrowing [UInt8]) throws(NetlinkError) {
        let sent = bytes.withUnsafeBytes { bytes in
            nl_sendto(socket, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
        }
        guard sent >= 0 else { throw NetlinkError("send a netlink request", .current) }
    }
}
