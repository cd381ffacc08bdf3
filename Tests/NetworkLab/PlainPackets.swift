internal import CNetworkLab
import Glibc

/// The simplest packets there are: what they say of a network is true of it, whatever a program thinks.
package enum PlainPackets {
    /// What became of a question.
    package enum Answer: Equatable, Sendable {
        case bytes([UInt8])
        /// A connection was made; nothing was to be sent, or nothing came back.
        case connected
        /// Somebody closed the connection instead of an answer.
        case closed
        case refused
        /// The kernel gave up, or somebody on the way said why not: an error number.
        case failed(CInt)
        case silence
        /// It did not leave this machine: an error number.
        case unsent(CInt)
    }

    /// Sends an echo (ICMP, ICMPv6) and waits for its reply. Blocks.
    package static func echo(_ address: String, from source: String?, within limit: Duration) -> Answer {
        let type: UInt8 = address.contains(":") ? 128 : 8
        let request: [UInt8] = [type, 0, 0, 0, 0, 0, 0, 1] + Array("plain packet".utf8)
        return ask(lab_plain_echo, request, of: address, 0, from: source, within: limit)
    }

    /// Sends a datagram and waits for one. Blocks.
    package static func datagram(
        _ bytes: [UInt8],
        to address: String,
        _ port: UInt16,
        from source: String?,
        within limit: Duration
    ) -> Answer {
        ask(lab_plain_datagram, bytes, of: address, port, from: source, within: limit)
    }

    /// Connects, sends what there is to send, and waits for the first bytes back. Blocks.
    package static func stream(
        _ bytes: [UInt8] = [],
        to address: String,
        _ port: UInt16,
        from source: String?,
        within limit: Duration
    ) -> Answer {
        ask(lab_plain_stream, bytes, of: address, port, from: source, within: limit)
    }

    private static func ask(
        _ kind: lab_plain_kind,
        _ bytes: [UInt8],
        of address: String,
        _ port: UInt16,
        from source: String?,
        within limit: Duration
    ) -> Answer {
        let socket = LabDescriptor(lab_plain_socket(kind, source, address, port))
        guard socket.number >= 0 else { return .unsent(errno) }
        let deadline = Deadline(after: limit)
        let isStream = kind == lab_plain_stream
        if isStream {
            guard wait(for: POLLOUT, socket, deadline) else { return .silence }
            let error = lab_socket_error(socket.number)
            guard error == 0 else { return error == ECONNREFUSED ? .refused : .failed(error) }
            if bytes.isEmpty { return .connected }
        }
        guard send(socket.number, bytes, bytes.count, CInt(MSG_NOSIGNAL)) >= 0 else {
            return isStream ? .closed : .unsent(errno)
        }
        guard wait(for: POLLIN, socket, deadline) else { return isStream ? .connected : .silence }
        var answer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket.number, &answer, answer.count, 0)
        if count < 0 { return errno == ECONNREFUSED ? .refused : errno == ECONNRESET ? .closed : .failed(errno) }
        return count == 0 && isStream ? .closed : .bytes(Array(answer[..<count]))
    }

    private static func wait(for event: CInt, _ socket: borrowing LabDescriptor, _ deadline: Deadline) -> Bool {
        var events = [pollfd(fd: socket.number, events: Int16(event), revents: 0)]
        while true {
            if poll(&events, 1, deadline.milliseconds) > 0 { return true }
            if deadline.hasPassed { return false }
        }
    }
}
