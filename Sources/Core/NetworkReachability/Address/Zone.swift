/// The zone of an address: the name or the index of an interface, at most 15 bytes (IFNAMSIZ).
///
/// Plain bytes instead of a string, for addresses are copied very often.
struct Zone: Hashable, Sendable {
    static let limit = 15
    /// That of addresses that need none.
    static let none = Zone("")

    /// Whether `text` may be the name of an interface, at most 15 bytes without `/` and blanks, or an index.
    static func isValid(_ text: some StringProtocol) -> Bool {
        (1...limit).contains(text.utf8.count) && !text.contains { ["/", "%", "\0"].contains($0) || $0.isWhitespace }
    }

    /// The first eight bytes, from the lowest bits on, and those after them; zeros behind the last.
    private let low: UInt64
    private let high: UInt64

    init(_ text: some StringProtocol) {
        let bytes = text.utf8.prefix(Self.limit)
        low = Self.packed(bytes.prefix(8))
        high = Self.packed(bytes.dropFirst(8))
    }

    private static func packed(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    var text: String {
        let all = [low, high].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) } }
        return String(decoding: all.prefix { $0 != 0 }, as: UTF8.self)
    }
}
