/// The grammar of what names an interface: its name or its index, at most 15 bytes (IFNAMSIZ).
enum InterfaceName {
    static let limit = 15

    /// Whether `text` may be one: not empty, without `/`, `%` and blanks.
    static func isValid(_ text: some StringProtocol) -> Bool {
        (1...limit).contains(text.utf8.count) && !text.contains { ["/", "%", "\0"].contains($0) || $0.isWhitespace }
    }
}
