package import TestSupport

/// Bytes with random damage.
package enum DamagedBytes {
    package static func make(from good: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = good
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            guard !bytes.isEmpty else { break }
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 2: bytes[place] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &generator) ?? 0
            case 3: bytes.remove(at: place)
            case 4: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            case 5: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &generator)))
            case 6: bytes.append(contentsOf: bytes[place..<min(bytes.count, place + 20)])
            default: bytes[place] &+= 1
            }
        }
        return bytes
    }

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
