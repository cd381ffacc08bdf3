extension String {
    /// What is shown in place of a secret.
    package static let mask = "***"

    /// A URL or a path with what is behind its first question mark masked, `/health?***`: a query may contain a token.
    ///
    /// By bytes: a mark with an accent is another character, and the same mark to every reader of a URL.
    package var queryMasked: String {
        guard let mark = utf8.firstIndex(of: UInt8(ascii: "?")) else { return self }
        return self[..<mark] + "?" + Self.mask
    }
}
