import TestSupport

/// Damages bytes at random. The same seed causes the same damage.
struct Mutation {
    private var chance: SeededGenerator

    init(seed: UInt64) {
        chance = SeededGenerator(seed: seed)
    }

    static var count: Int { MutationCount.value }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &chance)] }

    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &chance) {
            let place = Int.random(in: 0...bytes.count, using: &chance)
            switch Int.random(in: 0..<6, using: &chance) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &chance), at: place)
            case 1 where place < bytes.count: bytes.remove(at: place)
            case 2: bytes.removeSubrange(place...)
            case 3 where place < bytes.count: bytes[place] = pick([0, 0xc0, 0x0c, 0xff, 0x3f, 0x40, 0x7b, 0x22])
            case 4: bytes.insert(contentsOf: bytes.prefix(place).suffix(16), at: place)
            case _ where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            default: break
            }
        }
        return bytes
    }
}

/// Returns the bytes of a hexadecimal dump with spaces.
func hex(_ text: String) -> [UInt8] {
    let digits = text.filter(\.isHexDigit).compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
