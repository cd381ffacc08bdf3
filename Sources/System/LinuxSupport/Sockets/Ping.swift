/// The permission of this process to send ICMP echoes, by `net.ipv4.ping_group_range` of `icmp(7)`. It applies to root
/// too.
package enum EchoPermission {
    /// Whether ping sockets are permitted in the network namespace of the calling thread. True if it is not known.
    package static var isGranted: Bool {
        do throws(SocketError) {
            _ = try NetworkSocket.open(.ping, .ipv4)
            return true
        } catch {
            return error.kind != .notPermitted
        }
    }
}

/// A socket for all echoes of one family with the same settings. The kernel assigns the ICMP identifier, and this type
/// the sequence numbers.
final class PingSocket {
    struct Key: Hashable {
        let family: AddressFamily
        let settings: SocketSettings
    }

    /// The request of an echo, the number of its datagram (nil while it is queued), and the kernel's number for the
    /// timestamp.
    private typealias Sent = (operation: EchoOperation, number: Int?, stamp: UInt32)

    let key: Key
    let token: UInt64
    private let socket: NetworkSocket
    private var operations: [UInt64: EchoOperation] = [:]
    /// The sent and the queued echoes, by sequence number.
    private var sent: [UInt16: Sent] = [:]
    private var line: ArraySlice<(operation: EchoOperation, sequence: UInt16)> = []
    private var lastSequence: UInt16 = 0
    /// The sequence numbers by the kernel's number of the sent packet, which identifies the timestamps.
    private var stamps: [UInt32: UInt16] = [:]
    private var nextStamp: UInt32 = 0
    private var isFull = false
    /// The number of failed attempts to send the first queued echo.
    private var attempts = 0
    /// The number of ICMP errors since the last failed attempt.
    private var errorCount = 0

    init(_ key: Key, on socket: consuming NetworkSocket, token: UInt64) {
        self.key = key
        self.token = token
        self.socket = socket
    }

    var localEndpoint: SocketEndpoint? {
        key.settings.source
    }

    func add(_ operation: EchoOperation) {
        operations[operation.number] = operation
    }

    /// Removes an echo that has ended. The socket is closed with the last one.
    func remove(_ operation: EchoOperation, _ loop: EngineLoop) {
        operations[operation.number] = nil
        var isInLine = false
        for sequence in operation.sequences {
            guard let echo = sent.removeValue(forKey: sequence) else { continue }
            if echo.number == nil { isInLine = true }
            if stamps[echo.stamp] == sequence { stamps[echo.stamp] = nil }
        }
        if isInLine { line.removeAll { $0.operation === operation } }
        guard operations.isEmpty else { return }
        loop.inbox.poller.remove(socket)
        loop.close(self)
    }

    /// Queues an echo, which is sent in a batch.
    func enqueue(_ operation: EchoOperation) {
        repeat { lastSequence &+= 1 } while sent[lastSequence] != nil
        operation.sequences.append(lastSequence)
        line.append((operation, lastSequence))
        sent[lastSequence] = (operation, nil, 0)
    }

    /// Sends the queued echoes, and reads answers in between.
    func flush(_ loop: EngineLoop) {
        while !line.isEmpty, !isFull {
            let batch = Array(line.prefix(MessageBuffer.batchSize))
            for (index, echo) in batch.enumerated() {
                loop.buffer.prepare(index, to: echo.operation.endpoint, length: echo.operation.length) {
                    EchoMessage.write(echo.sequence, echo.operation.nonce, key.family, to: $0)
                }
            }
            send(batch, loop)
            receive(loop)
        }
    }

    private func send(_ batch: [(operation: EchoOperation, sequence: UInt16)], _ loop: EngineLoop) {
        let (moment, time) = (SystemClock.monotonic, SystemClock.real)
        do throws(SystemError) {
            let count = try loop.buffer.send(0..<batch.count, on: socket)
            for echo in batch.prefix(count) {
                let number = echo.operation.exchange.noteSent(at: moment, time: time)
                sent[echo.sequence] = (echo.operation, number, nextStamp)
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
                // The error may belong to an earlier packet. Reading the error queue clears it, but others may have
                // arrived since.
                attempts += 1
                errorCount = 0
            }
        }
    }

    private func fail(_ echo: (operation: EchoOperation, sequence: UInt16), _ error: SystemError, _ loop: EngineLoop) {
        attempts = 0
        drop(1)
        echo.operation.exchange.noteFailure(SocketError(.send(echo.operation.endpoint), error))
        // The failure determines whether the kernel has counted the packet, so the count is restarted.
        if (try? socket.enableTimestamps()) != nil {
            stamps = [:]
            nextStamp = 0
        }
        loop.touch(echo.operation.number)
    }

    private func drop(_ count: Int) {
        line.removeFirst(count)
        // A slice retains the storage of removed elements.
        if line.isEmpty { line = [] }
    }

    /// Continues to send after the socket has free space again.
    func resume(_ loop: EngineLoop) {
        guard isFull else { return }
        isFull = false
        loop.inbox.poller.change(socket, .readable, token: token)
    }

    /// Reads all pending messages, for all echoes.
    func receive(_ loop: EngineLoop) {
        // The error queue is read first, because it contains the send timestamps.
        loop.buffer.receiveErrors(from: socket) { error, message in noteError(error, message, loop) }
        for _ in 0..<2 {
            let error = loop.buffer.receive(from: socket) { noteReply($0, loop) }
            // A pending error is returned once instead of data.
            if error == nil { break }
            loop.buffer.receiveErrors(from: socket) { error, message in noteError(error, message, loop) }
        }
    }

    private func noteReply(_ message: ReceivedMessage, _ loop: EngineLoop) {
        guard let echo = EchoMessage(message.payload, key.family), echo.isReply,
            case let (operation, number, _)? = sent[echo.sequence],
            echo.nonce == operation.nonce
        else { return }
        operation.exchange.noteAnswer(
            from: message.endpoint ?? operation.endpoint,
            Array(message.payload.bytes(from: EchoMessage.headerSize)),
            isTruncated: message.isTruncated,
            control: message.control,
            to: number,
            at: SystemClock.monotonic
        )
        loop.touch(operation.number)
    }

    private func noteError(_ error: ErrorQueueMessage, _ message: ReceivedMessage, _ loop: EngineLoop) {
        if error.isICMP { errorCount += 1 }
        if error.origin == .timestamping {
            guard let sequence = stamps.removeValue(forKey: error.data),
                case let (operation, number?, _)? = sent[sequence],
                let time = error.time
            else { return }
            operation.exchange.noteStamp(time, of: number)
        } else if let echo = EchoMessage(message.payload, key.family),
            case let (operation, number, _)? = sent[echo.sequence],
            message.endpoint?.address == operation.endpoint.address, echo.nonce == nil || echo.nonce == operation.nonce
        {
            operation.exchange.noteError(error, to: number, at: SystemClock.monotonic)
            loop.touch(operation.number)
        }
    }
}

/// A request for echoes to one address, on a shared socket.
final class EchoOperation: SocketOperation {
    private let completion: @Sendable (DatagramOutcome) -> Void
    private unowned let socket: PingSocket
    var exchange: Exchange
    /// A random number in the payload that identifies the echoes of this request.
    let nonce = UInt64.random(in: 0 ... .max)
    /// The length of the ICMP header and the payload in bytes.
    let length: Int
    /// The sequence numbers of the echoes that were sent or queued.
    var sequences: [UInt16] = []
    let number: UInt64

    init(
        _ number: UInt64,
        _ request: DatagramRequest,
        size: Int,
        on socket: PingSocket,
        _ loop: EngineLoop,
        _ completion: @escaping @Sendable (DatagramOutcome) -> Void
    ) {
        self.number = number
        self.socket = socket
        self.completion = completion
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

    /// Does nothing, because the shared socket reads the answers.
    func receive(_ readiness: Readiness, _ loop: EngineLoop) {}

    func cancel(_ loop: EngineLoop) {
        end(exchange.outcome(endingWith: .cancelled, at: loop.now), loop)
    }

    private func end(_ outcome: DatagramOutcome, _ loop: EngineLoop) {
        loop.finish { [completion] in completion(outcome) }
        socket.remove(self, loop)
    }
}

/// An ICMP or ICMPv6 echo message (RFC 792; RFC 4443, 4). The kernel sets the identifier and the checksum.
struct EchoMessage {
    static let headerSize = 8

    let isReply: Bool
    let sequence: UInt16
    /// The first 8 bytes of the payload; nil if the payload is shorter.
    let nonce: UInt64?

    /// Reads a request or a reply, as received or as quoted by an ICMP error.
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
