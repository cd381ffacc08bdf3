import Glibc
package import LinuxSupport
import NIOCore
import Netlink

/// The client to which a connection is attributed for quotas.
package enum WebClient: Hashable, Sendable {
    /// The id of a user of this machine. The connection uses the Unix socket or TCP.
    case user(UInt32)
    /// A remote address. For IPv6 it is the /64 network. All loopback addresses are mapped to one.
    case address(WireAddress)
    case unknown

    /// A Boolean value that indicates whether the client is root or the user of the service.
    var isAdministrator: Bool { if case .user(let user) = self { user == 0 || user == geteuid() } else { false } }

    /// Determines the client of a TCP connection.
    init(of channel: any Channel) {
        guard let remote = Self.end(channel.remoteAddress) else {
            self = .unknown
            return
        }
        if let local = Self.end(channel.localAddress), let user = TCPConnectionDump.user(local: remote, remote: local) {
            self = .user(user)
        } else {
            self.init(remote.address)
        }
    }

    init(_ address: WireAddress) {
        if address.isLoopback {
            self = .address(.ipv6Loopback)
        } else if address.family == .ipv6 {
            self = .address(AddressPrefix(address, length: 64).address)
        } else {
            self = .address(address)
        }
    }

    static func end(_ address: SocketAddress?) -> (address: WireAddress, port: UInt16)? {
        guard let text = address?.ipAddress, let port = address?.port, let wire = AddressLiteral(text)?.wire else {
            return nil
        }
        return (wire, UInt16(truncatingIfNeeded: port))
    }
}

/// A limit for the number of connections of each client, so that one client cannot block others.
struct ConnectionQuota {
    /// The maximum number of connections of all clients.
    let limit: Int
    private(set) var count = 0
    /// The number of connections for public content.
    private var publicCount = 0
    private var counts: [WebClient: Int] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// The maximum number of connections of one client.
    private var share: Int { max(1, limit / 4) }

    /// Decides about a new connection and counts it if it is accepted.
    ///
    /// One eighth of the connections is reserved for administrators on this machine, and half of them for content that is not public.
    ///
    /// - Returns: True if the connection is accepted.
    mutating func admit(_ client: WebClient, over transport: Transport) -> Bool {
        let isReserved = client.isAdministrator && transport != .secured
        guard count < (isReserved ? limit : limit - limit / 8), transport != .open || publicCount < limit / 2,
            client.isAdministrator || counts[client, default: 0] < share
        else { return false }
        count += 1
        publicCount += transport == .open ? 1 : 0
        counts[client, default: 0] += 1
        return true
    }

    /// Removes an accepted connection from the count.
    mutating func release(_ client: WebClient, over transport: Transport) {
        count -= 1
        publicCount -= transport == .open ? 1 : 0
        let rest = counts[client, default: 1] - 1
        counts[client] = rest > 0 ? rest : nil
    }
}

/// The credentials of the peer process of a Unix socket. The layout is that of `struct ucred`, which Glibc declares only with _GNU_SOURCE.
///
/// Source: `unix(7)`.
struct PeerCredential: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0

    /// The socket option SO_PEERCRED, `socket(7)`.
    private static let option = SocketOptionName(17)

    /// Returns the transport of the requests of a connection, with the peer's user and groups.
    ///
    /// The kernel reports a user of another user namespace as the overflow user, `/proc/sys/kernel/overflowuid`.
    static func peer(of channel: any Channel) -> EventLoopFuture<WebRequest.Peer> {
        guard let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(.local(user: nil))
        }
        let credential: EventLoopFuture<PeerCredential> = socket.unsafeGetSocketOption(
            level: SocketOptionLevel(SOL_SOCKET),
            name: option
        )
        return credential.flatMap { credential in
            PeerGroups.of(socket).map { .local(user: credential.user, groups: [credential.group] + $0) }
        }
        .flatMapErrorThrowing { _ in .local(user: nil) }
    }
}

/// The supplementary groups of the peer process of a Unix socket at the time of its connection.
struct PeerGroups: Sendable {
    /// The group ids. A process with more than 1024 groups counts as a member of none.
    private var numbers = InlineArray<1024, UInt32>(repeating: 0)

    /// The socket option SO_PEERGROUPS, `socket(7)`, since Linux 4.13.
    private static let option = SocketOptionName(59)

    /// Returns the groups. The result omits 0, the group of root, because unused elements are 0 and the number of groups is not available.
    static func of(_ socket: any SocketOptionProvider) -> EventLoopFuture<[UInt32]> {
        let groups: EventLoopFuture<PeerGroups> = socket.unsafeGetSocketOption(
            level: SocketOptionLevel(SOL_SOCKET),
            name: option
        )
        return groups.map { groups in groups.numbers.indices.map { groups.numbers[$0] }.filter { $0 != 0 } }
            .flatMapErrorThrowing { _ in [] }
    }
}
