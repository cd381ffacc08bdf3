/// What made the monitor do something: the beginning of a turn of its queue. Everything recorded until the next one belongs
/// to it.
package enum RecordedCause: Hashable, Sendable {
    /// Everybody began to listen.
    case start
    /// Something was heard: the messages that stand before it.
    case rung(noticed: Duration?)
    /// The timer of this number fired, or what was to be done soon had its turn.
    case fired(UInt64)
    /// The name service answered the question of this number.
    case resolved(UInt64, RecordedNames)
    case namespaceChanged
    /// The machine may have slept.
    case woke
    /// The name service's configuration changed.
    case namesChanged
}

extension RecordedCause {
    func encode(to encoder: inout ByteEncoder) {
        switch self {
        case .start: encoder.add(1)
        case .rung(nil): encoder.add(2)
        case .rung(let noticed?):
            encoder.add(3)
            encoder.add(noticed)
        case .fired(let number):
            encoder.add(4)
            encoder.add(number: number)
        case .resolved(let number, let names):
            encoder.add(5)
            encoder.add(number: number)
            names.encode(to: &encoder)
        case .namespaceChanged: encoder.add(6)
        case .woke: encoder.add(7)
        case .namesChanged: encoder.add(8)
        }
    }

    init(from decoder: inout ByteDecoder) throws(ByteDecoder.Malformed) {
        switch try decoder.byte() {
        case 1: self = .start
        case 2: self = .rung(noticed: nil)
        case 3: self = .rung(noticed: try decoder.duration())
        case 4: self = .fired(try decoder.number())
        case 5: self = .resolved(try decoder.number(), try RecordedNames(from: &decoder))
        case 6: self = .namespaceChanged
        case 7: self = .woke
        case 8: self = .namesChanged
        default: throw ByteDecoder.Malformed()
        }
    }
}
