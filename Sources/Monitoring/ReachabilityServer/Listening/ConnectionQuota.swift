import Glibc
package import LinuxSupport
import NIOCore

/// The party that connections are counted for.
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
        if let local = Self.end(channel.localAddress), let user = SocketOwner.user(local: remote, remote: local) {
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

/// Decides which connections are accepted, so that no client takes the places of the others.
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

    /// Counts a connection, if there is a place for it. Every eighth place is for administrators on this machine.
    ///
    /// - Returns: Whether the connection is accepted.
    mutating func admit(_ client: WebClient, over transport: Transport) -> Bool {
        let isReserved = client.isAdministrator && transport != .secured
        guard count < (isReserved ? limit : limit - limit / 8),
            client.isAdministrator || counts[client, default: 0] < share
        else { return false }
        count += 1
        counts[client, default: 0] += 1
        return true
    }

    /// Gives back the place of a connection that was accepted.
    mutating func release(_ client: WebClient) {
        count -= 1
        let rest = counts[client, default: 1] - 1
        counts[client] = rest > 0 ? rest : nil
    }
}
