/// A keyed hash of 64 bits that tells nothing of its key: SipHash-2-4 (Aumasson and Bernstein, 2012).
struct SipHash: Sendable {
    private let key: (UInt64, UInt64)

    init(_ key: (UInt64, UInt64)) {
        self.key = key
    }

    func hash(_ bytes: [UInt8]) -> UInt64 {
        var state = State(key)
        var rest = bytes[...]
        while rest.count >= 8 {
            state.take(Self.word(rest.prefix(8)))
            rest = rest.dropFirst(8)
        }
        state.take(Self.word(rest) | UInt64(bytes.count & 0xff) << 56)
        return state.finish()
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private struct State {
        var v0, v1, v2, v3: UInt64

        init(_ key: (UInt64, UInt64)) {
            v0 = key.0 ^ 0x736f_6d65_7073_6575
            v1 = key.1 ^ 0x646f_7261_6e64_6f6d
            v2 = key.0 ^ 0x6c79_6765_6e65_7261
            v3 = key.1 ^ 0x7465_6462_7974_6573
        }

        mutating func take(_ word: UInt64) {
            v3 ^= word
            for _ in 0..<2 { mix() }
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xff
            for _ in 0..<4 { mix() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func mix() {
            v0 &+= v1
            v1 = v1.rotated(13) ^ v0
            v0 = v0.rotated(32)
            v2 &+= v3
            v3 = v3.rotated(16) ^ v2
            v0 &+= v3
            v3 = v3.rotated(21) ^ v0
            v2 &+= v1
            v1 = v1.rotated(17) ^ v2
            v2 = v2.rotated(32)
        }
    }
}

extension UInt64 {
    fileprivate func rotated(_ count: UInt64) -> UInt64 { self << count | self >> (64 - count) }
}
