/// Whether this process may send ICMP echoes, which `net.ipv4.ping_group_range` of `icmp(7)` decides, for root's processes, too.
package enum EchoPermission {
    /// Whether a socket for echoes can be opened in the network namespace of the calling thread. True if it is not known.
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
        // Whether the kernel counted it depends on where it failed.
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
