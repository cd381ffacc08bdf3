import Glibc
package import LinuxSupport
import NIOCore
import Netlink

/// The client that a connection is counted for.
package enum WebClient: Hashable, Sendable {
    /// A user of this machine, over the Unix socket or over TCP.
    case user(UInt32)
    /// An address. Of IPv6 it is the network of 64 bits, and all addresses of the loopback are one.
    case address(WireAddress)
    case unknown

    /// Whether this is root, or the user that the service runs as.
    var isAdministrator: Bool { if case .user(let user) = self { user == 0 || user == geteuid() } else { false } }

    /// The client at the other end of a TCP connection.
    init(of channel: any Channel) {
        guard let remote = Self.end(channel.remoteAddress) else {
            self = .unknown
            return
        }
        if let local = Self.end(channel.localAddress), let user = ConnectionQuestion.user(local: remote, remote: local)
        {
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

    private static func end(_ address: SocketAddress?) -> (address: WireAddress, port: UInt16)? {
        guard let text = address?.ipAddress, let port = address?.port, let wire = AddressLiteral(text)?.wire else {
            return nil
        }
        return (wire, UInt16(truncatingIfNeeded: port))
    }
}

/// Limits the number of connections of each client, so that others can connect.
struct ConnectionQuota {
    /// The maximum number of connections.
    let limit: Int
    private(set) var count = 0
    private var counts: [WebClient: Int] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// The maximum number of connections of one client.
    private var share: Int { max(1, limit / 4) }

    /// Counts a connection and returns true if it is accepted. One eighth of the connections is reserved for administrators on this machine.
    mutating func admit(_ client: WebClient, over transport: Transport) -> Bool {
        let isReserved = client.isAdministrator && transport != .secured
        guard count < (isReserved ? limit : limit - limit / 8),
            client.isAdministrator || counts[client, default: 0] < share
        else { return false }
        count += 1
        counts[client, default: 0] += 1
        return true
    }

    /// Ends the count of an accepted connection.
    mutating func release(_ client: WebClient) {
        count -= 1
        let rest = counts[client, default: 1] - 1
        counts[client] = rest > 0 ? rest : nil
    }
}

/// The process at the other end of a Unix socket: `struct ucred` of `unix(7)`, which Glibc declares only with _GNU_SOURCE.
struct PeerCredential: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0

    /// SO_PEERCRED of `socket(7)`.
    private static let option = SocketOptionName(17)

    /// Returns the transport of a connection's requests. Users of another user namespace are reported as nobody.
    static func way(of channel: any Channel) -> EventLoopFuture<WebRequest.Way> {
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

/// The supplementary groups of the process at the other end of a Unix socket at the time of its connection.
struct PeerGroups: Sendable {
    /// A process with more groups counts as a member of none.
    private var numbers = InlineArray<1024, UInt32>(repeating: 0)

    /// SO_PEERGROUPS of `socket(7)`, since Linux 4.13.
    private static let option = SocketOptionName(59)

    /// Returns the groups. The kernel does not report their number here, so 0, the group of root, is left out.
    static func of(_ socket: any SocketOptionProvider) -> EventLoopFuture<[UInt32]> {
        let groups: EventLoopFuture<PeerGroups> = socket.unsafeGetSocketOption(
            level: SocketOptionLevel(SOL_SOCKET),
            name: option
        )
        return groups.map { groups in groups.numbers.indices.map { groups.numbers[$0] }.filter { $0 != 0 } }
            .flatMapErrorThrowing { _ in [] }
    }
}
