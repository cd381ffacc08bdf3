import LinuxSupport

extension TrustedHTTPURL {
    /// What a reference means that stands in an answer to this URL (RFC 3986, 5.2).
    func resolving(_ reference: String) throws(TrustedHTTPFailure) -> TrustedHTTPURL {
        let text = reference.prefix { $0 != "#" }
        if Self.hasScheme(text) { return try TrustedHTTPURL(String(text)) }
        if text.hasPrefix("//") { return try TrustedHTTPURL("\(scheme.rawValue):\(text)") }
        if text.isEmpty { return self }
        if text.hasPrefix("?") { return try with(target: path + text) }
        let query = text.drop { $0 != "?" }
        let referred = text.dropLast(query.count)
        // Everything behind the last slash gives way.
        let directory = String(path.reversed().drop { $0 != "/" }.reversed())
        let merged = referred.hasPrefix("/") ? String(referred) : directory + referred
        return try with(target: Self.withoutDots(merged) + query)
    }

    private var path: Substring { target.prefix { $0 != "?" } }

    private func with(target: some StringProtocol) throws(TrustedHTTPFailure) -> TrustedHTTPURL {
        try TrustedHTTPURL("\(description.dropLast(self.target.count))\(target)")
    }

    private static func hasScheme(_ text: Substring) -> Bool {
        guard let colon = text.unicodeScalars.firstIndex(where: { ":/?".unicodeScalars.contains($0) }),
            text.unicodeScalars[colon] == ":"
        else { return false }
        return text.first?.isLetter ?? false
    }

    /// RFC 3986, 5.2.4.
    private static func withoutDots(_ path: String) -> String {
        let segments = path.split(at: "/", omittingEmptySubsequences: false).dropFirst()
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            switch segment {
            case ".", "..":
                if segment == ".." { _ = kept.popLast() }
                if index == segments.count - 1 { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
