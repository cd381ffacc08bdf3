import CLinux
import Glibc

/// A DNS query to several servers at the same time, to compare their answers. It blocks, so call it on a separate
/// thread.
///
/// Source: RFC 1035, section 4. C counterpart: `udp(7)`, `poll(2)`.
package enum NameServerQuery {
    /// The answer of a server.
    package enum Answer: Hashable, Sendable {
        /// The server answered with this response code (RFC 1035, 4.1.1; IANA's DNS RCODEs).
        case code(UInt8)
        /// The answer was truncated (the bit TC). The complete answer is available over TCP.
        case truncated
        /// The server did not answer before the timeout.
        case silence
        /// No name server is running (ICMP port unreachable).
        case closed
        /// The query could not be sent.
        case unsent(SystemError)
    }

    private static let port: UInt16 = 53

    /// Queries the IPv4 address of `name`. Returns the answers in the order of `servers`.
    ///
    /// - Parameters:
    ///   - servers: The addresses of the servers. A link-local address requires the name of its interface.
    ///   - limit: The timeout of all queries together.
    ///   - namespace: The network namespace of the queries. If set, the calling thread must end afterwards.
    package static func ask(
        _ servers: [(address: WireAddress, zone: String?)],
        for name: String,
        within limit: Duration,
        inside namespace: NamespaceReference? = nil
    ) -> [Answer] {
        if let namespace {
            do throws(NamespaceError) {
                try NamespaceEntry.enter(namespace)
            } catch {
                return servers.map { _ in .unsent(error.cause) }
            }
        }
        let identifier = UInt16.random(in: 0 ... .max)
        let message = question(for: name, identifier)
        var answers: [Answer?] = []
        var polled: [pollfd] = []
        defer { for entry in polled where entry.fd >= 0 { close(entry.fd) } }
        for server in servers {
            do throws(SystemError) {
                let descriptor = try connect(server.address, zone: server.zone)
                polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
                let isSent = message.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) } == message.count
                answers.append(isSent ? nil : .unsent(.current))
            } catch {
                polled.append(pollfd(fd: -1, events: 0, revents: 0))
                answers.append(.unsent(error))
            }
        }
        let end = ContinuousClock.now + limit
        while answers.contains(nil) {
            let left = end - ContinuousClock.now
            guard left > .zero else { break }
            // Servers that have answered are skipped.
            var waiting = polled
            for index in waiting.indices where answers[index] != nil { waiting[index].fd = -1 }
            let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
            guard poll(&waiting, nfds_t(waiting.count), CInt(clamping: milliseconds)) >= 0 || errno == EINTR else {
                break
            }
            for index in waiting.indices where waiting[index].fd >= 0 && waiting[index].revents != 0 {
                answers[index] = receive(waiting[index].fd, identifier)
            }
        }
        return answers.map { $0 ?? .silence }
    }

    /// Reads an answer; nil for any other message.
    private static func receive(_ descriptor: CInt, _ identifier: UInt16) -> Answer? {
        var message = [UInt8](repeating: 0, count: 1500)
        let count = recv(descriptor, &message, message.count, CInt(MSG_DONTWAIT))
        if count < 0 { return errno == ECONNREFUSED ? .closed : errno == EAGAIN ? nil : .unsent(.current) }
        let isAnswer = count >= 12 && message[2] & 0x80 != 0
        guard isAnswer, UInt16(message[0]) << 8 | UInt16(message[1]) == identifier else { return nil }
        return message[2] & 0x02 != 0 ? .truncated : .code(message[3] & 0x0f)
    }

    /// A connected socket receives only packets of its server.
    private static func connect(_ address: WireAddress, zone: String?) throws(SystemError) -> CInt {
        let number = SocketKind.udp.open(address.family)
        guard number >= 0 else { throw .current }
        let file = Descriptor(owning: number)
        let index = zone.map { UInt32($0) ?? if_nametoindex($0) } ?? 0
        let endpoint = SocketEndpoint(address, port: port, interfaceIndex: index)
        guard endpoint.withSocketAddress({ Glibc.connect(number, $0, $1) }) == 0 else { throw .current }
        return file.release()
    }

    /// Returns a query with recursion desired: type A, class IN. A label that is too long is truncated, because it does
    /// not exist on any server.
    private static func question(for name: String, _ identifier: UInt16) -> [UInt8] {
        var bytes = [UInt8(identifier >> 8), UInt8(identifier & 0xff), 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        for label in name.split(at: ".") {
            let text = label.utf8.prefix(63)
            bytes.append(UInt8(text.count))
            bytes += text
        }
        return bytes + [0, 0, 1, 0, 1]
    }
}

extension NameServerQuery.Answer: CustomStringConvertible {
    /// The name of the response code, for example `SERVFAIL`; otherwise `truncated`, `silence`, `closed`, or the error
    /// of the system.
    package var description: String {
        switch self {
        case .code(let code):
            ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"].dropFirst(Int(code)).first
                ?? "RCODE \(code)"
        case .truncated: "truncated"
        case .silence: "silence"
        case .closed: "closed"
        case .unsent(let cause): cause.description
        }
    }
}
