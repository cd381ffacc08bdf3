import CLinux
import Dispatch
import Glibc

/// A TCP address at which connections are refused, or accepted and closed at once. The socket stays bound while
/// connections are refused. Thread-safe.
///
/// C counterpart: `listen(2)`, and `shutdown(2)` of a listening socket, after which the kernel refuses connections.
package final class GateSocket: Sendable {
    /// A reference that closes the socket when the last source has ended.
    private final class Owner: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) {
            self.descriptor = descriptor
        }
    }

    private let owner: Owner
    private let queue = DispatchQueue(label: "LinuxSupport.gate")
    /// The source of new connections; nil while they are refused.
    private let source = Locked<(any DispatchSourceRead)?>(nil)

    /// The maximum number of connections that wait to be accepted.
    private static let backlog: CInt = 64
    /// The time between attempts to accept a connection without a free descriptor, in microseconds.
    private static let pause: UInt32 = 100_000

    /// Creates a socket that refuses connections.
    ///
    /// - Parameter endpoint: The address. With port 0 the port changes each time connections are accepted again.
    /// - Throws: ``SystemError``, for example `EADDRINUSE`.
    package init(_ endpoint: SocketEndpoint) throws(SystemError) {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let number = socket(endpoint.family == .ipv4 ? AF_INET : AF_INET6, kind, 0)
        guard number >= 0 else { throw .current }
        owner = Owner(Descriptor(owning: number))
        var one: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        // A connection that ended recently does not block the address.
        guard setsockopt(number, OptionLevel.socket, SO_REUSEADDR, &one, size) == 0 else { throw .current }
        if endpoint.family == .ipv6, setsockopt(number, OptionLevel.ipv6, IPV6_V6ONLY, &one, size) != 0 {
            throw .current
        }
        // The interface may get the address later.
        guard setsockopt(number, OptionLevel.ipv4, IP_FREEBIND, &one, size) == 0 else { throw .current }
        guard endpoint.withSocketAddress({ bind(number, $0, $1) }) == 0 else { throw .current }
    }

    deinit {
        setOpen(false)
    }

    /// The port, also if the kernel chose it.
    package var port: UInt16 {
        var storage = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutableBytes(of: &storage) { memory in
            memory.withMemoryRebound(to: sockaddr.self) {
                getsockname(owner.descriptor.number, $0.baseAddress, &length)
            }
        }
        return code == 0 ? UInt16(bigEndian: storage.sin6_port) : 0
    }

    /// Accepts or refuses connections from now on. Returns false if the kernel does not allow to accept them, for example
    /// because another process listens at the address since.
    @discardableResult
    package func setOpen(_ isOpen: Bool) -> Bool {
        source.withLock { source in
            guard isOpen != (source != nil) else { return true }
            guard isOpen else {
                source?.cancel()
                source = nil
                return shutdown(owner.descriptor.number, CInt(SHUT_RD)) == 0
            }
            guard listen(owner.descriptor.number, Self.backlog) == 0 else { return false }
            let next = DispatchSource.makeReadSource(fileDescriptor: owner.descriptor.number, queue: queue)
            next.setEventHandler { [owner] in
                while case let number = accept(owner.descriptor.number, nil, nil), number >= 0 { Glibc.close(number) }
                // Without descriptors the connection stays pending, and the source would call again at once.
                if [EMFILE, ENFILE].contains(errno) { usleep(Self.pause) }
            }
            next.setCancelHandler { [owner] in withExtendedLifetime(owner) {} }
            next.activate()
            source = next
            return true
        }
    }
}
