import CLinux
import Glibc
import LinuxSupport

/// Lists the TCP connections of a network namespace with what the kernel measured of each. It needs no privilege, and no packet is sent.
///
/// C counterpart: `sock_diag(7)`, `NETLINK_SOCK_DIAG` with `inet_diag_req_v2`.
package enum ConnectionQuestion {
    /// So many are enough to see whether packets flow: the rest of a busy server's is left unread.
    package static let limit = 1024
    /// `TCP_ESTABLISHED` of `<net/tcp_states.h>`, which programs do not get.
    private static let established: UInt32 = 1 << 1

    /// The established connections in the calling thread's network namespace, at most ``limit`` of each family.
    package static func ask() throws(NetlinkError) -> [TCPConnection] {
        var connections: [TCPConnection] = []
        for family in AddressFamily.allCases { connections += try ask(family) }
        return connections
    }

    /// Whether a UDP socket of the calling thread's network namespace is bound to a port, be it one of the kernel's.
    static func hasDatagramSocket(port: UInt16) throws(NetlinkError) -> Bool {
        guard port != 0 else { return false }
        let transport = try SocketTransport(family: NETLINK_SOCK_DIAG)
        var request = RequestBuilder()
        request.begin(.socketsByFamily, flags: NLM_F_DUMP, sequence: 1)
        var question = inet_diag_req_v2()
        question.sdiag_family = AddressFamily.ipv4.rawValue
        question.sdiag_protocol = UInt8(IPPROTO_UDP)
        question.idiag_states = .max
        question.id.idiag_sport = port.bigEndian
        request.append(question)
        var isBound = false
        try transport.stream(request.bytes, sequence: 1) { header, _ in
            isBound = header.kind != .error && header.kind != .done
            return false
        }
        return isBound
    }

    private static func ask(_ family: AddressFamily) throws(NetlinkError) -> [TCPConnection] {
        // A dump that is left early ends with its socket.
        let transport = try SocketTransport(family: NETLINK_SOCK_DIAG)
        var request = RequestBuilder()
        request.begin(.socketsByFamily, flags: NLM_F_DUMP, sequence: 1)
        var question = inet_diag_req_v2()
        question.sdiag_family = family.rawValue
        question.sdiag_protocol = UInt8(IPPROTO_TCP)
        question.idiag_ext = 1 << (UInt8(INET_DIAG_INFO) - 1)
        question.idiag_states = established
        request.append(question)
        var connections: [TCPConnection] = []
        var failure: SystemError?
        try transport.stream(request.bytes, sequence: 1) { header, message in
            let body = message.bytes(from: MessageHeader.size)
            guard header.kind != .error, header.kind != .done else {
                failure = SystemError(dumpEnd: body)
                return false
            }
            if let connection = TCPConnection(body: body) { connections.append(connection) }
            return connections.count < limit
        }
        switch failure {
        case nil: return connections
        // A kernel may be built without it.
        case .noEntry, .notSupported: return []
        case .some(let cause): throw NetlinkError("list the TCP connections", cause)
        }
    }
}
