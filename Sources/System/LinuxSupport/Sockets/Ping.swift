/// Whether this process may send ICMP echoes, which `net.ipv4.ping_group_range` of `icmp(7)` decides, for root's processes, too.
package enum EchoPermission {
    /// Whether sockets for echoes are permitted in the network namespace of the calling thread. True if unknown.
    package static var isGranted: Bool {
        do throws(SocketError) {
            _ = try NetworkSocket.open(.ping, .ipv4)
            return true
        } catch {
            return error.kind != .notPermitted
        }
    }
}

/// One socket for all echoes of a family and settings. The kernel gives it an identifier, we give each echo a sequence number.
final class PingSocket {
    struct Key: Hashable {
        let family: AddressFamily
        let settings: SocketSettings
    }

    /// Which datagram of which flight, nil while it stands in line; and the kernel's number for it.
    private typealias Sent = (flight: EchoFlight, number: Int?, stamp: UInt32)

    let key: Key
    let token: UInt64
    private let socket: NetworkSocket
    private var flights: [UInt64: EchoFlight] = [:]
    /// Echoes that were sent, and those in line, by sequence number.
    private var sent: [UInt16: Sent] = [:]
    private var line: ArraySlice<(flight: EchoFlight, sequence: UInt16)> = []
    private var lastSequence: UInt16 = 0
    /// The kernel counts what we send, to say when it did.
    private var stamps: [UInt32: UInt16] = [:]
    private var nextStamp: UInt32 = 0
    private var isFull = false
    /// How often the first in line was not taken, and how many ICMP errors came since.
    private var attempts = 0
    private var errorCount = 0

    init(_ key: Key, on socket: consuming NetworkSocket, token: UInt64) {
        self.key = key
        self.token = token
        self.socket = socket
    }

    var localEndpoint: SocketEndpoint? {
        key.settings.source
    }

    func add(_ flight: EchoFlight) {
        flights[flight.number] = flight
    }

    /// Forgets an echo that is over, and closes the socket with the last one.
    func remove(_ flight: EchoFlight, _ loop: EngineLoop) {
        flights[flight.number] = nil
        var isInLine = false
        for sequence in flight.sequences {
            guard let echo = sent.removeValue(forKey: sequence) else { continue }
            if echo.number == nil { isInLine = true }
            if stamps[echo.stamp] == sequence { stamps[echo.stamp] = nil }
        }
        if isInLine { line.removeAll { $0.flight === flight } }
        if flights.isEmpty { loop.close(self) }
    }

    /// Puts an echo in line; it is sent with others.
    func enqueue(_ flight: EchoFlight) {
        repeat { lastSequence &+= 1 } while sent[lastSequence] != nil
        flight.sequences.append(lastSequence)
        line.append((flight, lastSequence))
        sent[lastSequence] = (flight, nil, 0)
    }

    /// Sends what stands in line, and reads between.
    func flush(_ loop: EngineLoop) {
        while !line.isEmpty, !isFull {
            let batch = Array(line.prefix(MessageBuffer.batchSize))
            for (index, echo) in batch.enumerated() {
                loop.buffer.prepare(index, to: echo.flight.endpoint, length: echo.flight.length) {
                    EchoMessage.write(echo.sequence, echo.flight.nonce, key.family, to: $0)
                }
            }
            send(batch, loop)
            receive(loop)
        }
    }

    private func send(_ batch: [(flight: EchoFlight, sequence: UInt16)], _ loop: EngineLoop) {
        let (moment, time) = (SystemClock.monotonic, SystemClock.real)
        do throws(SystemError) {
            let count = try loop.buffer.send(0..<batch.count, on: socket)
            for echo in batch.prefix(count) {
                let number = echo.flight.exchange.noteSent(at: moment, time: time)
                sent[echo.sequence] = (echo.flight, number, nextStamp)
                stamps[nextStamp] = echo.sequence
                nextStamp &+= 1
            }
            drop(count)
            attempts = 0
        } catch {
            if error == .tryAgain {
                isFull = true
                loop.inbox.poller.change(socket, [.readable, .writable], token: token)
            } else if attempts > 0, errorCount == 0 || attempts == 8 {
                fail(batch[0], error, loop)
            } else {
                // It may be an error of what was sent before, which reading takes away; others may have come meanwhile.
                attempts += 1
                errorCount = 0
            }
        }
    }

    private func fail(_ echo: (flight: EchoFlight, sequence: UInt16), _ error: SystemError, _ loop: EngineLoop) {
        attempts = 0
        drop(1)
        echo.flight.exchange.noteFailure(SocketError(.send(echo.flight.endpoint), error))
        // True if the kernel counted it depends on where it failed.
        if (try? socket.askForTimes()) != nil {
            stamps = [:]
            nextStamp = 0
        }
        loop.touch(echo.flight.number)
    }

    private func drop(_ count: Int) {
        line.removeFirst(count)
        // A slice keeps what it no longer shows.
        if line.isEmpty { line = [] }
    }

    /// There is room for more.
    func resume(_ loop: EngineLoop) {
        guard isFull else { return }
        isFull = false
        loop.inbox.poller.change(socket, .readable, token: token)
    }

    /// Reads what is there, for all echoes.
    func receive(_ loop: EngineLoop) {
        // Errors first: when the echo was sent is reported there, too.
        loop.buffer.receiveErrors(from: socket) { error, message in noteError(error, message, loop) }
        for _ in 0..<2 {
            let error = loop.buffer.receive(from: socket) { noteReply($0, loop) }
            // An error that waits is reported instead of data, once.
            if error == nil { break }
            loop.buffer.receiveErrors(from: socket) { error, message in noteError(error, message, loop) }
        }
    }

    private func noteReply(_ message: ReceivedMessage, _ loop: EngineLoop) {
        guard let echo = EchoMessage(message.payload, key.family), echo.isReply,
            case let (flight, number, _)? = sent[echo.sequence],
            echo.nonce == flight.nonce
        else { return }
        flight.exchange.noteAnswer(
            from: message.endpoint ?? flight.endpoint,
            Array(message.payload.bytes(from: EchoMessage.headerSize)),
            isTruncated: message.isTruncated,
            control: message.control,
            to: number,
            at: SystemClock.monotonic
        )
        loop.touch(flight.number)
    }

    private func noteError(_ error: ErrorQueueMessage, _ message: ReceivedMessage, _ loop: EngineLoop) {
        if error.isICMP { errorCount += 1 }
        if error.origin == .timestamping {
            guard let sequence = stamps.removeValue(forKey: error.data),
                case let (flight, number?, _)? = sent[sequence],
                let time = error.time
            else { return }
            flight.exchange.noteStamp(time, of: number)
        } else if let echo = EchoMessage(message.payload, key.family),
            case let (flight, number, _)? = sent[echo.sequence],
            message.endpoint?.address == flight.endpoint.address, echo.nonce == nil || echo.nonce == flight.nonce
        {
            flight.exchange.noteError(error, to: number, at: SystemClock.monotonic)
            loop.touch(flight.number)
        }
    }
}

/// Echoes to one address, on a socket that others use as well.
final class EchoFlight: Flight {
    private let tell: @Sendable (DatagramOutcome) -> Void
    private unowned let socket: PingSocket
    var exchange: Exchange
    /// What marks the echoes as ours.
    let nonce = UInt64.random(in: 0 ... .max)
    /// Of ICMP, header and payload.
    let length: Int
    /// Sent or about to be sent.
    var sequences: [UInt16] = []
    let number: UInt64

    init(
        _ number: UInt64,
        _ request: DatagramRequest,
        size: Int,
        on socket: PingSocket,
        _ loop: EngineLoop,
        _ tell: @escaping @Sendable (DatagramOutcome) -> Void
    ) {
        self.number = number
        self.socket = socket
        self.tell = tell
        length = 8 + max(8, min(size, MessageBuffer.payloadSize - 8))
        exchange = Exchange(request, begun: loop.now, local: socket.localEndpoint)
    }

    var endpoint: SocketEndpoint { exchange.request.endpoint }

    func advance(_ loop: EngineLoop) -> Duration? {
        while exchange.beginTry(at: loop.now) { socket.enqueue(self) }
        guard let outcome = exchange.outcome(at: loop.now) else { return exchange.nextMoment }
        end(outcome, loop)
        return nil
    }

    /// The echoes share the buffer of the socket.
    func receive(_ readiness: Readiness, _ loop: EngineLoop) {}

    func cancel(_ loop: EngineLoop) {
        end(exchange.outcome(endingWith: .cancelled, at: loop.now), loop)
    }

    private func end(_ outcome: DatagramOutcome, _ loop: EngineLoop) {
        loop.finish { [tell] in tell(outcome) }
        socket.remove(self, loop)
    }
}

/// An ICMP or ICMPv6 echo (RFC 792, RFC 4443 section 4). The identifier and the checksum are the kernel's.
struct EchoMessage {
    static let headerSize = 8

    let isReply: Bool
    let sequence: UInt16
    /// The first bytes of the payload; nil where they are not there.
    let nonce: UInt64?

    /// A request or a reply, as it came or as an error quotes it.
    init?(_ bytes: UnsafeRawBufferPointer, _ family: AddressFamily) {
        guard let type = bytes.load(UInt8.self, at: 0), let sequence = bytes.load(UInt16.self, at: 6) else {
            return nil
        }
        switch (family, type) {
        case (.ipv4, 0), (.ipv6, 129): isReply = true
        case (.ipv4, 8), (.ipv6, 128): isReply = false
        default: return nil
        }
        self.sequence = UInt16(bigEndian: sequence)
        nonce = bytes.load(UInt64.self, at: Self.headerSize)
    }

    /// Writes a request that fills the memory.
    static func write(
        _ sequence: UInt16,
        _ nonce: UInt64,
        _ family: AddressFamily,
        to memory: UnsafeMutableRawBufferPointer
    ) {
        for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: index) }
        memory[0] = family == .ipv4 ? 8 : 128
        for index in 1..<6 { memory[index] = 0 }
        memory.storeBytes(of: sequence.bigEndian, toByteOffset: 6, as: UInt16.self)
        memory.storeBytes(of: nonce, toByteOffset: headerSize, as: UInt64.self)
    }
}
