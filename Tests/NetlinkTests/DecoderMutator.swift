import TestSupport

/// Spoils messages by chance that can be repeated.
struct DecoderMutator: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> UInt64 { generator.next() }

    /// A message with one to six things wrong; parts may come from `others`.
    mutating func spoiled(_ message: [UInt8], with others: [[UInt8]]) -> [UInt8] {
        var message = message
        for _ in 0..<Int.random(in: 1...6, using: &self) { spoil(&message, others) }
        return message
    }

    private mutating func spoil(_ message: inout [UInt8], _ others: [[UInt8]]) {
        guard !message.isEmpty else { return }
        let place = Int.random(in: message.indices, using: &self)
        switch Int.random(in: 0..<8, using: &self) {
        case 0:
            message[place] = UInt8.random(in: 0 ... .max, using: &self)
        case 1:
            message[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 2:
            message.removeSubrange(place...)
        case 3:
            message.removeSubrange(place..<min(message.count, place + Int.random(in: 1...16, using: &self)))
        case 4:
            let count = Int.random(in: 1...32, using: &self)
            message.insert(contentsOf: (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }, at: place)
        case 5:
            // Where lengths stand: small, huge and off by one.
            let values: [UInt8] = [0, 1, 3, 4, 5, 0x7f, 0x80, 0xff]
            let start = place & ~3
            for offset in start..<min(start + Int.random(in: 1...4, using: &self), message.count) {
                message[offset] = values.randomElement(using: &self) ?? 0
            }
        case 6:
            guard let other = others.randomElement(using: &self), !other.isEmpty else { return }
            let start = Int.random(in: other.indices, using: &self) & ~3
            message.replaceSubrange((place & ~3)..., with: other[start...])
        default:
            let end = min(message.count, place + Int.random(in: 4...64, using: &self))
            message.insert(contentsOf: message[place..<end], at: place & ~3)
        }
    }
}
