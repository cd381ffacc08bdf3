import LinuxPrimitives

extension String {
    /// What may hold a stranger's words, safe for a log or a terminal: control characters are escaped, and what is longer than 2048
    /// characters is cut.
    package var shown: String {
        let limit = 2048
        // Escapes make a text longer: it is cut before and after.
        guard utf8.count > limit else { return printable }
        let text = String(prefix(limit)).printable
        return text.count == count ? text : "\(text.prefix(limit))\u{2026} (cut)"
    }
}
