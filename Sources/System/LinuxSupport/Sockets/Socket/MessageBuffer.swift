import CLinux
import Glibc

/// Memory for what is sent and received at once, used again and again. For one thread at a time.
///
/// C counterpart: `recvmmsg(2)`, `sendmmsg(2)`.
final class MessageBuffer {
    static let batchSize = Int(clinux_batch_size)
    /// The longest payload, in bytes; what is longer is cut.
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

    /// Gives `body` each datagram that is there.
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
        // Whoever sends without end does not keep us from all else.
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
