import CNetworkLab
import Glibc

/// The reference for reachability: an address is reachable if it echoes a UDP datagram and accepts a TCP connection.
package struct PacketOracle: Sendable {
    /// The answers of one address.
    package struct Answer: Sendable, Equatable {
        package var datagram = false
        package var connection = false

        package var isReachable: Bool { datagram && connection }
    }

    private let namespace: LabNamespace

    package init(in namespace: LabNamespace) {
        self.namespace = namespace
    }

    /// Probes all addresses concurrently. Returns as soon as all have answered or failed, or after the time for
    /// silence. Blocks the thread.
    package func answers(of addresses: [String], silence: Duration = .milliseconds(300)) throws -> [String: Answer] {
        var probes = addresses.map { Probe(address: $0) }
        try namespace.perform {
            let deadline = Deadline(after: silence)
            for index in probes.indices {
                probes[index].begin()
            }
            while !deadline.hasPassed, probes.contains(where: \.isPending) {
                for index in probes.indices {
                    probes[index].sendAgain()
                }
                var events = probes.flatMap(\.events)
                _ = poll(&events, nfds_t(events.count), min(deadline.milliseconds, 100))
                for index in probes.indices {
                    probes[index].collect()
                }
            }
        }
        return Dictionary(probes.map { ($0.address, $0.answer) }) { first, _ in first }
    }

    /// Returns the currently reachable addresses. An expected address may answer until the limit, any other one only
    /// until the time for silence. So neither ARP nor a late packet leads to a wrong result.
    package func reachable(
        of addresses: [String],
        expecting expected: Set<String>,
        within limit: Duration = .patience
    ) throws -> Set<String> {
        let deadline = Deadline(after: limit)
        while true {
            let answers = try answers(of: addresses)
            let reachable = Set(addresses.filter { answers[$0]?.isReachable == true })
            if reachable == expected.intersection(addresses) || deadline.hasPassed { return reachable }
            LabThread.pause(.milliseconds(20))
        }
    }
}

/// A probe of one address: a repeated datagram and a connection. For use by one thread.
struct Probe {
    let address: String
    var answer = PacketOracle.Answer()
    private var datagram: LabDescriptor?
    private var connection: LabDescriptor?

    init(address: String) {
        self.address = address
    }

    var isPending: Bool { datagram != nil || connection != nil }

    var events: [pollfd] {
        [(datagram, POLLIN), (connection, POLLOUT)].compactMap { descriptor, event in
            descriptor.map { pollfd(fd: $0.number, events: Int16(event), revents: 0) }
        }
    }

    mutating func begin() {
        datagram = Probe.connect(address, stream: 0)
        connection = Probe.connect(address, stream: 1)
    }

    mutating func sendAgain() {
        guard let datagram else { return }
        if send(datagram.number, "echo", 4, 0) < 0 {
            self.datagram = nil
        }
    }

    mutating func collect() {
        if let datagram {
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = recv(datagram.number, &bytes, bytes.count, 0)
            answer.datagram = count == 4
            if count >= 0 || errno != EAGAIN {
                self.datagram = nil
            }
        }
        if let connection {
            var event = pollfd(fd: connection.number, events: Int16(POLLOUT), revents: 0)
            guard poll(&event, 1, 0) > 0 else { return }
            answer.connection = lab_socket_error(connection.number) == 0
            self.connection = nil
        }
    }

    private static func connect(_ address: String, stream: CInt) -> LabDescriptor? {
        let descriptor = lab_connect(address, EchoServer.port, stream)
        return descriptor < 0 ? nil : LabDescriptor(descriptor)
    }
}

/// Probes with plain packets, as a reference that is independent of the code under test.
package enum PlainPackets {
    /// The result of a probe.
    package enum Answer: Equatable, Sendable {
        case bytes([UInt8])
        /// A connection was established. No bytes were sent, or none were received.
        case connected
        /// The connection was closed without an answer.
        case closed
        case refused
        /// The kernel reported an error, or a router sent one. The value is an error number.
        case failed(CInt)
        case silence
        /// The packet was not sent. The value is an error number.
        case unsent(CInt)
    }

    /// Sends an echo (ICMP, ICMPv6) and waits for its reply. Blocks the thread.
    package static func echo(_ address: String, from source: String?, within limit: Duration) -> Answer {
        let type: UInt8 = address.contains(":") ? 128 : 8
        let request: [UInt8] = [type, 0, 0, 0, 0, 0, 0, 1] + Array("plain packet".utf8)
        return ask(lab_plain_echo, request, of: address, 0, from: source, within: limit)
    }

    /// Sends a datagram and waits for one. Blocks the thread.
    package static func datagram(
        _ bytes: [UInt8],
        to address: String,
        _ port: UInt16,
        from source: String?,
        within limit: Duration
    ) -> Answer {
        ask(lab_plain_datagram, bytes, of: address, port, from: source, within: limit)
    }

    /// Connects, sends the bytes, and waits for the first received bytes. Blocks the thread.
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
