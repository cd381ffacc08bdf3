import TestSupport

/// Spoils bytes by chance that can be repeated.
enum Spoiler {
    static func spoiled(_ original: [UInt8], by chance: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...5, using: &chance) {
            guard !bytes.isEmpty else { break }
            let place = Int.random(in: bytes.indices, using: &chance)
            switch Int.random(in: 0..<5, using: &chance) {
            case 0: bytes[place] = UInt8.random(in: 0 ... .max, using: &chance)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            case 2: bytes.removeSubrange(place...)
            case 3: bytes.insert(contentsOf: original.prefix(place), at: place & ~7)
            default: bytes[place & ~7] = [0, 1, 15, 16, 17, 0x7f, 0x80, 0xff].randomElement(using: &chance) ?? 0
            }
        }
        return bytes
    }
}
