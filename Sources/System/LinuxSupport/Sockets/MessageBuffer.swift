import CLinux
import Glibc

/// Reusable memory for batches of messages. Not thread-safe.
///
/// C counterpart: `recvmmsg(2)`, `sendmmsg(2)`.
final class MessageBuffer {
    static let batchSize = Int(clinux_batch_size)
    /// The maximum payload in bytes. Longer payloads are truncated.
    static let payloadSize = 9216
    /// The maximum number of batches that are received in one call.
    private static let batchLimit = 64
    private static let payloadOffset = Int(clinux_name_size) + Int(clinux_control_size)
    private static let slotSize = payloadOffset + payloadSize

    private let slots: UnsafeMutableRawBufferPointer
    private let messages: UnsafeMutableBufferPointer<clinux_message>

    init() {
        slots = .allocate(byteCount: Self.slotSize * Self.batchSize, alignment: 16)
        messages = .allocate(capacity: Self.batchSize)
        messages.initialize(repeating: clinux_message())
    }

    deinit {
        messages.deallocate()
        slots.deallocate()
    }

    /// Calls `body` with each received datagram.
    ///
    /// - Returns: The error that ended receiving; nil if no datagram is left.
    func receive(from socket: borrowing NetworkSocket, _ body: (ReceivedMessage) -> Void) -> SystemError? {
        drain(socket, flags: 0, body)
    }

    /// Calls `body` with each message of the error queue. The payload of the message is that of the sent packet.
    func receiveErrors(
        from socket: borrowing NetworkSocket,
        _ body: (_ error: ErrorQueueMessage, _ message: ReceivedMessage) -> Void
    ) {
        _ = drain(socket, flags: CInt(MSG_ERRQUEUE)) { message in
            if let error = ErrorQueueMessage(message.control) { body(error, message) }
        }
    }

    private func drain(
        _ socket: borrowing NetworkSocket,
        flags: CInt,
        _ body: (ReceivedMessage) -> Void
    ) -> SystemError? {
        // The limit prevents a peer that sends without end from blocking all other work.
        for _ in 0..<Self.batchLimit {
            let count = Int(
                clinux_receive_messages(
                    socket.descriptor.number,
                    flags,
                    slots.baseAddress,
                    UInt32(Self.slotSize),
                    messages.baseAddress,
                    UInt32(Self.batchSize)
                )
            )
            if count < 0 {
                let error = SystemError.current
                if error == .interrupted { continue }
                return error == .tryAgain ? nil : error
            }
            for index in 0..<count { body(received(index)) }
            if count < Self.batchSize { return nil }
        }
        return nil
    }

    private func slot(_ index: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: slots[(index * Self.slotSize)..<((index + 1) * Self.slotSize)])
    }

    private func received(_ index: Int) -> ReceivedMessage {
        let bytes = UnsafeRawBufferPointer(slot(index))
        let message = messages[index]
        let control = bytes.bytes(
            from: Int(clinux_name_size),
            length: min(Int(message.control), Int(clinux_control_size))
        )
        return ReceivedMessage(
            endpoint: SocketEndpoint(bytes.bytes(from: 0, length: min(Int(message.name), Int(clinux_name_size)))),
            control: ControlMessages(control),
            payload: bytes.bytes(from: Self.payloadOffset, length: Int(message.payload)),
            isTruncated: message.flags & CInt(MSG_TRUNC) != 0
        )
    }

    /// Prepares a datagram in a slot.
    ///
    /// - Parameter write: Writes the payload into memory of `length` bytes, which is not empty.
    func prepare(
        _ index: Int,
        to endpoint: SocketEndpoint,
        length: Int,
        _ write: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        let slot = slot(index)
        let name = endpoint.socketAddress
        slot.copyBytes(from: name)
        let length = min(max(length, 1), Self.payloadSize)
        write(UnsafeMutableRawBufferPointer(rebasing: slot[Self.payloadOffset..<(Self.payloadOffset + length)]))
        messages[index] = clinux_message(name: UInt32(name.count), control: 0, payload: UInt32(length), flags: 0)
    }

    /// Sends the prepared datagrams of a range of slots.
    ///
    /// - Returns: The number of datagrams that the kernel accepted, at least 1. If it refuses the first one, its error
    ///   is thrown.
    func send(_ range: Range<Int>, on socket: borrowing NetworkSocket) throws(SystemError) -> Int {
        let taken = clinux_send_messages(
            socket.descriptor.number,
            slots.baseAddress.map { $0 + range.lowerBound * Self.slotSize },
            UInt32(Self.slotSize),
            messages.baseAddress.map { $0 + range.lowerBound },
            UInt32(range.count)
        )
        guard taken > 0 else { throw .current }
        return Int(taken)
    }
}

/// A message that `recvmmsg(2)` wrote into a slot of a `MessageBuffer`. It is valid until the next use of the buffer.
struct ReceivedMessage {
    /// The sender. For a message of the error queue, the destination of the sent packet.
    let endpoint: SocketEndpoint?
    let control: ControlMessages
    let payload: UnsafeRawBufferPointer
    /// True if the datagram was truncated (MSG_TRUNC).
    let isTruncated: Bool
}

/// The kernel's measurements of a TCP connection. A property is nil if the kernel is too old.
///
/// C counterpart: TCP_INFO of `tcp(7)`, `struct tcp_info` of `<linux/tcp.h>`.
package struct TCPInformation: Hashable, Sendable {
    /// The smoothed round-trip time (`tcpi_rtt`). After the handshake it is the time between SYN and SYN-ACK.
    package let roundTrip: Duration?
    /// The number of segments that are currently regarded as lost (`tcpi_lost`).
    package let lost: Int
    /// The total number of retransmitted segments (`tcpi_total_retrans`).
    package let totalRetransmits: Int
    /// The known path MTU in bytes (`tcpi_pmtu`).
    package let pathMTU: Int
    /// The maximum segment size for sending (`tcpi_snd_mss`), in bytes.
    package let sendSegmentSize: Int
    /// The time since the last data were received.
    package let sinceDataReceived: Duration
    /// The time since the last acknowledgement was received.
    package let sinceAcknowledgement: Duration
    package let bytesReceived: UInt64?
    /// The number of data bytes sent, including retransmissions (`tcpi_bytes_sent`).
    package let bytesSent: UInt64?
    package let segmentsSent: Int?
    package let segmentsReceived: Int?

    package init?(bytes: [UInt8]) {
        guard let information = bytes.withUnsafeBytes({ TCPInformation($0) }) else { return nil }
        self = information
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        func number(_ offset: Int) -> Int? { bytes.load(UInt32.self, at: offset).map(Int.init) }
        guard let send = number(16), let lost = number(32), let data = number(52), let acknowledgement = number(56),
            let mtu = number(60), let roundTrip = number(68), let total = number(100)
        else { return nil }
        self.lost = lost
        totalRetransmits = total
        pathMTU = mtu
        sendSegmentSize = send
        // The times are in milliseconds, but the round-trip times are in microseconds. The round-trip time is 0 before
        // the first measurement.
        sinceDataReceived = .milliseconds(data)
        sinceAcknowledgement = .milliseconds(acknowledgement)
        self.roundTrip = roundTrip == 0 ? nil : .microseconds(roundTrip)
        bytesReceived = bytes.load(UInt64.self, at: 128)
        bytesSent = bytes.load(UInt64.self, at: 200)
        segmentsSent = number(136)
        segmentsReceived = number(140)
    }
}
