/// Bytes with random damage.
package enum DamagedBytes {
    /// - Parameter alignment: The alignment of the fields of the format.
    package static func make(
        from good: [UInt8],
        using generator: inout SeededGenerator,
        alignment: Int = 1
    ) -> [UInt8] {
        var bytes = good
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            guard let place = bytes.indices.randomElement(using: &generator) else { break }
            let field = place - place % alignment
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 2: bytes[field] = special.randomElement(using: &generator) ?? 0
            case 3: bytes.remove(at: place)
            case 4: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 5: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &generator)))
            case 6: bytes.append(contentsOf: bytes[place..<min(bytes.count, place + 20)])
            case 7: bytes.insert(contentsOf: good.prefix(place).suffix(32), at: field)
            case 8: bytes.removeSubrange(place...)
            default: bytes[place] &+= 1
            }
        }
        return bytes
    }

    /// Lengths, types and characters with a meaning in a format.
    private static let special: [UInt8] = [
        0, 1, 3, 4, 5, 0x0c, 0x0f, 0x10, 0x11, 0x22, 0x3f, 0x40, 0x7b, 0x7f, 0x80, 0xc0, 0xff,
    ]

    /// Returns the bytes with single bytes changed. Such encodings remain readable more often, so the damage reaches
    /// later steps.
    package static func makeInPlace(from good: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard let place = good.indices.randomElement(using: &generator) else { return good }
        var bytes = good
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[place] &+= UInt8.random(in: 1...255, using: &generator)
        default: bytes[place] &-= 1
        }
        return bytes
    }
}
