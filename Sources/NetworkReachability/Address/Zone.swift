/// The zone of an address: the name or the index of an interface, at most 15 bytes (IFNAMSIZ).
///
/// Plain bytes instead of a string, for addresses are copied very often.
struct Zone: Hashable, Sendable {
    static let limit = 15
    /// That of addresses that need none.
    static let none = Zone("")

    /// The bytes from the first on, and zeros behind them.
    private let bytes: (low: UInt64, high: UInt64)

    init(_ text: some StringProtocol) {
        var bytes = (low: UInt64(0), high: UInt64(0))
        for (index, byte) in text.utf8.prefix(Self.limit).enumerated() {
            if index < 8 {
                bytes.low |= UInt64(byte) << (8 * index)
            } else {
                bytes.high |= UInt64(byte) << (8 * (index - 8))
            }
        }
        self.bytes = bytes
    }

    var text: String {
        let all = (0..<Self.limit).map { index in
            UInt8(truncatingIfNeeded: index < 8 ? bytes.low >> (8 * index) : bytes.high >> (8 * (index - 8)))
        }
        return String(decoding: all.prefix { $0 != 0 }, as: UTF8.self)
    }

    static func == (one: Zone, other: Zone) -> Bool {
        one.bytes == other.bytes
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bytes.low)
        hasher.combine(bytes.high)
    }
}
