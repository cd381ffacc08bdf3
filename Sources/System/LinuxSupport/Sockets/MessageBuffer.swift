import CLinux
import Glibc

/// Memory for what is sent and received at once, used again and again. For one thread at a time.
///
/// C counterpart: `recvmmsg(2)`, `sendmmsg(2)`.
final class MessageBuffer {
    static let batchSize = Int(clinux_batch_size)
    /// The maximum payload in bytes. Longer ones are cut off.
    static let payloadSize = 9216
    /// How many batches are received at once.
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
    /// - Returns: what ended it; nil when nothing more is there.
    func receive(from socket: borrowing NetworkSocket, _ body: (ReceivedMessage) -> Void) -> SystemError? {
        drain(socket, flags: 0, body)
    }

    /// Gives `body` each message of the queue of errors; the payload is what was sent.
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
        // A peer that sends without end must not block everything else.
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

    /// Puts one datagram into a slot, to be sent.
    ///
    /// - Parameter write: gets memory for `length` bytes, which is not empty.
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

    /// Sends what was prepared from `start` on.
    ///
    /// - Returns: how many the kernel took, at least one. It throws what was wrong with the first.
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

/// What `recvmmsg(2)` put into one slot of a `MessageBuffer`; valid until the next use of that.
struct ReceivedMessage {
    /// Who sent it; in the queue of errors, where it was meant to go.
    let endpoint: SocketEndpoint?
    let control: ControlMessages
    let payload: UnsafeRawBufferPointer
    /// Not all of the datagram is there (MSG_TRUNC).
    let isTruncated: Bool
}

/// The kernel's measurements of a TCP connection. A property is nil if the kernel is too old.
///
/// C counterpart: TCP_INFO of `tcp(7)`, `struct tcp_info` of `<linux/tcp.h>`.
package struct TCPInformation: Hashable, Sendable {
    /// Smoothed; after a handshake alone, the time between SYN and SYN-ACK (`tcpi_rtt`).
    package let roundTrip: Duration?
    package let roundTripVariation: Duration?
    /// How often the segment that waits now was sent again (`tcpi_retransmits`).
    package let retransmits: Int
    /// Segments that are believed to be lost now (`tcpi_lost`).
    package let lost: Int
    /// All segments ever sent again (`tcpi_total_retrans`).
    package let totalRetransmits: Int
    /// In bytes, as far as it is known (`tcpi_pmtu`).
    package let pathMTU: Int
    /// In bytes, of what is sent (`tcpi_snd_mss`) and received (`tcpi_rcv_mss`).
    package let sendSegmentSize: Int
    package let receiveSegmentSize: Int
    /// For how long no data, and no acknowledgement, came.
    package let sinceDataReceived: Duration
    package let sinceAcknowledgement: Duration
    package let bytesReceived: UInt64?
    /// Of data, with what was sent again (`tcpi_bytes_sent`).
    package let bytesSent: UInt64?
    package let segmentsSent: Int?
    package let segmentsReceived: Int?

    /// - Parameter bytes: as `getsockopt(2)` gives them; kernels give different lengths.
    package init?(bytes: [UInt8]) {
        guard let information = bytes.withUnsafeBytes({ TCPInformation($0) }) else { return nil }
        self = information
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        func number(_ offset: Int) -> Int? { bytes.load(UInt32.self, at: offset).map(Int.init) }
        guard let retransmits = bytes.load(UInt8.self, at: 2), let send = number(16), let receive = number(20),
            let lost = number(32), let data = number(52), let acknowledgement = number(56), let mtu = number(60),
            let roundTrip = number(68), let variation = number(72), let total = number(100)
        else { return nil }
        self.retransmits = Int(retransmits)
        self.lost = lost
        totalRetransmits = total
        pathMTU = mtu
        sendSegmentSize = send
        receiveSegmentSize = receive
        // Milliseconds, and microseconds of the round trip, which is zero before the first.
        sinceDataReceived = .milliseconds(data)
        sinceAcknowledgement = .milliseconds(acknowledgement)
        self.roundTrip = roundTrip == 0 ? nil : .microseconds(roundTrip)
        roundTripVariation = roundTrip == 0 ? nil : .microseconds(variation)
        bytesReceived = bytes.load(UInt64.self, at: 128)
        bytesSent = bytes.load(UInt64.self, at: 200)
        segmentsSent = number(136)
        segmentsReceived = number(140)
    }
}
