import LinuxPrimitives

/// One thing that happened, at a time of CLOCK_MONOTONIC.
package struct Record: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// A message that the listening socket received from a netlink port; 0 is the kernel.
        case message([UInt8], port: UInt32)
        /// Messages were lost (ENOBUFS).
        case lost
        case asked(RecordedQuestion, answer: [UInt8])
        case turn(RecordedCause)
        /// The recording ended as it should.
        case end(End)
    }

    /// Why a recording ended.
    package enum End: UInt8, Hashable, Sendable {
        /// It was asked to.
        case asked = 0
        /// It had reached its limit.
        case limit = 1
    }

    package var time: Duration
    package var content: Content

    package init(_ content: Content, at time: Duration) {
        self.content = content
        self.time = time
    }
}

extension Record {
    /// What stands first in the frame of a record.
    enum Kind: UInt8 {
        case header = 1
        case message = 2
        case lost = 3
        case asked = 4
        case turn = 5
        case end = 6
    }

    var kind: Kind {
        switch content {
        case .message: .message
        case .lost: .lost
        case .asked: .asked
        case .turn: .turn
        case .end: .end
        }
    }

    /// - Parameter previous: The time of the record before.
    func encode(to encoder: inout ByteEncoder, after previous: Duration) {
        encoder.add(time - previous)
        switch content {
        case .message(let bytes, let port):
            encoder.add(number: UInt64(port))
            encoder.add(rest: bytes)
        case .lost: break
        case .asked(let question, let answer):
            encoder.add(question.subject.rawValue)
            encoder.add(question.detail)
            encoder.add(rest: answer)
        case .turn(let cause): cause.encode(to: &encoder)
        case .end(let reason): encoder.add(reason.rawValue)
        }
    }

    init(_ kind: Kind, from decoder: inout ByteDecoder, after previous: Duration) throws(ByteDecoder.Malformed) {
        time = previous + (try decoder.duration())
        switch kind {
        case .header: throw ByteDecoder.Malformed()
        case .message:
            let port = try decoder.number(UInt32.self)
            content = .message(decoder.remainder(), port: port)
        case .lost: content = .lost
        case .asked:
            guard let subject = RecordedQuestion.Subject(rawValue: try decoder.byte()) else {
                throw ByteDecoder.Malformed()
            }
            let question = RecordedQuestion(subject, try decoder.block())
            content = .asked(question, answer: decoder.remainder())
        case .turn: content = .turn(try RecordedCause(from: &decoder))
        case .end:
            guard let reason = End(rawValue: try decoder.byte()) else { throw ByteDecoder.Malformed() }
            content = .end(reason)
        }
        guard decoder.rest.isEmpty else { throw ByteDecoder.Malformed() }
    }
}

/// One moment on three clocks.
package struct RecordedMoment: Hashable, Sendable {
    /// Since 1970-01-01T00:00:00Z (CLOCK_REALTIME).
    package var real: Duration
    /// CLOCK_MONOTONIC.
    package var monotonic: Duration
    /// CLOCK_BOOTTIME.
    package var boot: Duration

    package init(real: Duration, monotonic: Duration, boot: Duration) {
        self.real = real
        self.monotonic = monotonic
        self.boot = boot
    }

    /// Now.
    package static var now: RecordedMoment {
        RecordedMoment(real: SystemClock.real, monotonic: SystemClock.monotonic, boot: SystemClock.boot)
    }
}
