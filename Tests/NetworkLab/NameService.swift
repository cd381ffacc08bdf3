import CNetworkLab
import Glibc
import LinuxSupport

/// The thread of a name server, with its sockets.
final class NameService {
    /// A TCP connection, and the received part of a question.
    private final class Stream {
        let socket: LabDescriptor
        var bytes: [UInt8] = []

        init(_ socket: LabDescriptor) {
            self.socket = socket
        }
    }

    private let addresses: [String]
    private let state: Locked<NameServer.State>
    private let wakened: LabDescriptor
    private var datagrams: [LabDescriptor] = []
    private var listeners: [LabDescriptor] = []
    private var streams: [Stream] = []
    /// The answers that are delayed.
    private var late: [(moment: ContinuousClock.Instant, send: () -> Void)] = []

    init(_ addresses: [String], _ state: Locked<NameServer.State>, _ wakened: LabDescriptor) {
        (self.addresses, self.state, self.wakened) = (addresses, state, wakened)
    }

    func run() throws {
        while try apply() {
            var events = ([wakened] + datagrams + listeners + streams.map(\.socket)).map {
                pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)
            }
            _ = poll(&events, nfds_t(events.count), patience)
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(wakened.number, &bytes, bytes.count) > 0 {}
            for socket in datagrams { while receive(from: socket) {} }
            for listener in listeners { while accept(from: listener) {} }
            streams.removeAll { !receive(from: $0) }
            sendLate()
        }
    }

    /// Opens and closes ports according to the behaviour. Returns whether the thread must continue.
    private func apply() throws -> Bool {
        let (behaviour, revision, isStopping) = state.withLock { ($0.behaviour, $0.revision, $0.isStopping) }
        if isStopping { return false }
        try open(&datagrams, behaviour.datagrams, stream: 0)
        try open(&listeners, behaviour.streams, stream: 1)
        state.withLock { $0.applied = revision }
        return true
    }

    private func open(_ sockets: inout [LabDescriptor], _ port: NameServer.Behaviour.Port, stream: CInt) throws {
        if port == .closed {
            sockets = []
        } else if sockets.isEmpty {
            sockets = try addresses.map {
                let number = try check("name server at \($0)", lab_socket_at($0, NameServer.port, stream))
                let socket = LabDescriptor(number)
                if stream == 1 { try check("listen", listen(socket.number, 512)) }
                return socket
            }
        }
    }

    private var patience: CInt {
        guard let next = late.map(\.moment).min() else { return -1 }
        return Deadline(after: next - .now).milliseconds
    }

    private func sendLate() {
        let now = ContinuousClock.now
        for answer in late where answer.moment <= now { answer.send() }
        late.removeAll { $0.moment <= now }
    }

    // MARK: Sockets

    /// Answers a datagram. Returns whether one was received.
    private func receive(from socket: LabDescriptor) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var sender = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let count = withUnsafeMutablePointer(to: &sender) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(socket.number, &bytes, bytes.count, CInt(MSG_DONTWAIT), $0, &length)
            }
        }
        // A pending ICMP error is reported once, and does not end the reading.
        guard count >= 0 else { return errno == ECONNREFUSED }
        answer(Array(bytes.prefix(count)), isStream: false) { [self] answer in
            for message in state.withLock({ $0.behaviour.preface }) + [answer] {
                _ = withUnsafePointer(to: sender) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        sendto(socket.number, message, message.count, CInt(MSG_DONTWAIT), $0, length)
                    }
                }
            }
        }
        return true
    }

    /// Accepts a connection. Returns whether one was pending.
    private func accept(from listener: LabDescriptor) -> Bool {
        let socket = lab_accept(listener.number)
        guard socket >= 0 else { return false }
        streams.append(Stream(LabDescriptor(socket)))
        return true
    }

    /// Reads from a connection. Returns whether it is still open.
    private func receive(from stream: Stream) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(stream.socket.number, &bytes, bytes.count, CInt(MSG_DONTWAIT)), count != 0 {
            if count < 0 { return errno == EAGAIN }
            stream.bytes += bytes.prefix(count)
            while stream.bytes.count >= 2, case let end = 2 + Int(stream.bytes[0]) << 8 + Int(stream.bytes[1]),
                stream.bytes.count >= end
            {
                let question = Array(stream.bytes[2..<end])
                stream.bytes.removeFirst(end)
                answer(question, isStream: true) { answer in
                    let framed = [UInt8(answer.count >> 8), UInt8(answer.count & 0xff)] + answer
                    _ = send(stream.socket.number, framed, framed.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL))
                }
            }
        }
        return false
    }

    // MARK: Answers

    private func answer(_ bytes: [UInt8], isStream: Bool, _ send: @escaping ([UInt8]) -> Void) {
        guard let message = NameMessage(bytes) else { return }
        let (behaviour, answer) = state.withLock { state in
            state.questions.append(NameServer.Question(name: message.name, type: message.type, isStream: isStream))
            return (state.behaviour, state.answer(to: message, isStream: isStream))
        }
        guard let answer else { return }
        if behaviour.delay > .zero {
            late.append((.now + behaviour.delay, { send(answer) }))
        } else {
            send(answer)
        }
    }
}

extension NameServer.State {
    /// Returns the answer; nil for silence.
    fileprivate func answer(to message: NameMessage, isStream: Bool) -> [UInt8]? {
        guard (isStream ? behaviour.streams : behaviour.datagrams) == .open else { return nil }
        if behaviour.isDeafToIPv6, message.type == 28 { return nil }
        if behaviour.dislikesExtensions, message.hasExtensions { return message.answer(code: 1) }
        if behaviour.isTruncated, !isStream { return message.answer(flaw: .truncated) }
        let found = zone[message.name] ?? NameServer.known[message.name]
        return switch exceptions[message.name] ?? behaviour.answer {
        case .zone: message.answer(found ?? [], code: found == nil ? 3 : 0)
        case .invented(let addresses): message.answer(found ?? addresses)
        case .portal(let addresses): message.answer(addresses)
        case .code(let code): message.answer(code: code, isAlone: behaviour.isAlone)
        case .blocked(let reason): message.answer(code: 3, extendedErrors: [reason])
        case .malformed: message.answer(flaw: .malformed)
        case .wrongIdentifier: message.answer(found ?? [], flaw: .wrongIdentifier)
        case .wrongQuestion: message.answer(found ?? [], flaw: .wrongQuestion)
        }
    }
}

/// A question as received by the name server, and the bytes of answers to it. The code is independent of the code
/// under test, so that a common mistake is not hidden.
struct NameMessage {
    let identifier: UInt16
    /// The name in lower case, without a trailing dot.
    let name: String
    /// The type: 1 for A, 28 for AAAA.
    let type: UInt16
    /// The name, type and class of the question as received.
    private let question: [UInt8]
    let hasExtensions: Bool

    /// Parses a message. Returns nil if it is not a question.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 12, bytes[2] & 0x80 == 0, bytes[4] == 0, bytes[5] == 1 else { return nil }
        var labels: [String] = []
        var place = 12
        while true {
            guard place < bytes.count, bytes[place] < 64 else { return nil }
            let length = Int(bytes[place])
            place += 1
            if length == 0 { break }
            guard place + length <= bytes.count else { return nil }
            labels.append(String(decoding: bytes[place..<(place + length)], as: UTF8.self).lowercased())
            place += length
        }
        guard place + 4 <= bytes.count else { return nil }
        identifier = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        name = labels.joined(separator: ".")
        type = UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
        question = Array(bytes[12..<(place + 4)])
        hasExtensions = bytes[10] != 0 || bytes[11] != 0
    }

    /// The fault of an answer.
    enum Flaw {
        case none, truncated, malformed, wrongIdentifier, wrongQuestion
    }

    /// Returns an answer with the addresses of the requested type.
    func answer(
        _ addresses: [String] = [],
        code: UInt8 = 0,
        extendedErrors: [UInt16] = [],
        isAlone: Bool = false,
        flaw: Flaw = .none
    ) -> [UInt8] {
        let records = addresses.compactMap { WireAddress($0)?.bytes }.filter { $0.count == (type == 28 ? 16 : 4) }
        let found = flaw == .truncated || type != 1 && type != 28 ? [] : records
        let isMalformed = flaw == .malformed
        // QR, RD and RA, and TC for a truncated answer.
        var bytes = words(flaw == .wrongIdentifier ? ~identifier : identifier)
        bytes += [flaw == .truncated ? 0x83 : 0x81, (isAlone ? 0 : 0x80) | code & 15]
        bytes += words(1, isMalformed ? 1 : UInt16(found.count), 0, hasExtensions ? 1 : 0)
        bytes += flaw == .wrongQuestion ? [5] + Array("other".utf8) + question : question
        for address in isMalformed ? [[192, 0]] : found {
            // The name of the question, the class IN and a lifetime of a minute.
            bytes += words(0xc00c, type, 1, 0, 60, isMalformed ? 4 : UInt16(address.count)) + address
        }
        if isMalformed || !hasExtensions { return bytes }
        let options = extendedErrors.flatMap { words(15, 2, $0) }
        return bytes + [0] + words(41, 1232, 0, 0, UInt16(options.count)) + options
    }

    private func words(_ words: UInt16...) -> [UInt8] {
        words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    }
}
