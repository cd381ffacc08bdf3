import CLinux
import Glibc
package import LinuxSupport

/// Queries about the sockets in the calling thread's network namespace. They need no privilege and send no packet.
///
/// C counterpart: `sock_diag(7)`, `NETLINK_SOCK_DIAG` with `inet_diag_req_v2`.
package enum TCPConnectionDump {
    /// The maximum number of connections per family, which is enough to see whether packets flow.
    package static let limit = 1024
    /// `TCP_ESTABLISHED` of `<net/tcp_states.h>`, which is not available to programs.
    private static let established: UInt32 = 1 << 1

    /// Returns the established TCP connections with the kernel's measurements, at most ``limit`` of each family.
    package static func query() throws(NetlinkError) -> [TCPConnection] {
        var connections: [TCPConnection] = []
        for family in AddressFamily.allCases { connections += try query(family) }
        return connections
    }

    /// Returns whether a UDP socket of a program or of the kernel is bound to a port.
    static func hasDatagramSocket(port: UInt16) throws(NetlinkError) -> Bool {
        guard port != 0 else { return false }
        let transport = try SocketTransport(family: NETLINK_SOCK_DIAG)
        var query = inet_diag_req_v2(.ipv4, IPPROTO_UDP)
        query.id.idiag_sport = port.bigEndian
        var isBound = false
        _ = try transport.dump(request(query, flags: NLM_F_DUMP)) { _ in
            isBound = true
            return false
        }
        return isBound
    }

    /// Returns the user ID of the owner of a TCP socket, given by its local and remote ends.
    ///
    /// The result is nil if no socket has these ends, or if its process has closed it. The kernel reports root as the
    /// owner of a closed socket.
    package static func user(
        local: (address: WireAddress, port: UInt16),
        remote: (address: WireAddress, port: UInt16)
    ) -> UInt32? {
        var query = inet_diag_req_v2(local.address.family, IPPROTO_TCP)
        (query.id.idiag_sport, query.id.idiag_dport) = (local.port.bigEndian, remote.port.bigEndian)
        withUnsafeMutableBytes(of: &query.id.idiag_src) { $0.copyBytes(from: local.address.bytes) }
        withUnsafeMutableBytes(of: &query.id.idiag_dst) { $0.copyBytes(from: remote.address.bytes) }
        // INET_DIAG_NOCOOKIE
        query.id.idiag_cookie = (.max, .max)
        var user: UInt32?
        try? SocketTransport(family: NETLINK_SOCK_DIAG).exchange(request(query), first: 1, count: 1) { _, message in
            guard MessageHeader(message)?.kind == .socketsByFamily,
                let answer = message.bytes(from: MessageHeader.size).load(inet_diag_msg.self, at: 0),
                answer.idiag_inode != 0
            else { return }
            user = answer.idiag_uid
        }
        return user
    }

    private static func query(_ family: AddressFamily) throws(NetlinkError) -> [TCPConnection] {
        // Closing the socket ends an incomplete dump.
        let transport = try SocketTransport(family: NETLINK_SOCK_DIAG)
        var query = inet_diag_req_v2(family, IPPROTO_TCP)
        query.idiag_ext = 1 << (UInt8(INET_DIAG_INFO) - 1)
        query.idiag_states = established
        var connections: [TCPConnection] = []
        let failure = try transport.dump(request(query, flags: NLM_F_DUMP)) { body in
            if let connection = TCPConnection(body: body) { connections.append(connection) }
            return connections.count < limit
        }
        switch failure {
        case nil: return connections
        // A kernel may be built without this subsystem.
        case .noEntry, .notSupported: return []
        case .some(let cause): throw NetlinkError("list the TCP connections", cause)
        }
    }

    private static func request(_ query: inet_diag_req_v2, flags: CInt = 0) -> [UInt8] {
        var request = RequestBuilder()
        request.begin(.socketsByFamily, flags: flags, sequence: 1)
        request.append(query)
        return request.bytes
    }
}

extension inet_diag_req_v2 {
    /// Creates a query for sockets in any state.
    fileprivate init(_ family: AddressFamily, _ transport: Int) {
        self.init()
        (sdiag_family, sdiag_protocol, idiag_states) = (family.rawValue, UInt8(transport), .max)
    }
}

/// A TCP connection of a network namespace. Received data shows that packets flow.
///
/// C counterpart: `inet_diag_msg` of `<linux/inet_diag.h>`, `sock_diag(7)`.
package struct TCPConnection: Hashable, Sendable {
    package var local: WireAddress
    package var localPort: UInt16
    package var remote: WireAddress
    package var remotePort: UInt16
    /// The index of the interface that the socket is bound to; 0 for none.
    package var interface: UInt32
    /// The kernel's measurements of the connection.
    package var information: TCPInformation

    /// Decodes the body of an answer; nil if it is truncated or has no measurements (INET_DIAG_INFO).
    init?(body: UnsafeRawBufferPointer) {
        let head = MemoryLayout<inet_diag_msg>.size
        guard let family = body.load(UInt8.self, at: 0).flatMap(AddressFamily.init(rawValue:)), body.count >= head,
            let localPort = body.load(UInt16.self, at: 4), let remotePort = body.load(UInt16.self, at: 6),
            let local = WireAddress(bytes: Array(body.bytes(from: 8, length: family.bitCount / 8))),
            let remote = WireAddress(bytes: Array(body.bytes(from: 24, length: family.bitCount / 8))),
            let interface = body.load(UInt32.self, at: 40)
        else { return nil }
        guard
            let measured = Attributes(body.bytes(from: head)).value(of: Int(INET_DIAG_INFO)),
            let information = TCPInformation(measured)
        else { return nil }
        // An IPv6 socket may have an IPv4-mapped address.
        (self.local, self.remote) = (local.unmapped, remote.unmapped)
        (self.localPort, self.remotePort) = (UInt16(bigEndian: localPort), UInt16(bigEndian: remotePort))
        (self.interface, self.information) = (interface, information)
    }
}
