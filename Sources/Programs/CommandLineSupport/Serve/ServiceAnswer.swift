import LinuxSupport

/// An answer of the service, taken apart.
package struct ServiceAnswer {
    package let status: Int
    package let body: [UInt8]
    /// Where the next page of a list is.
    package let next: String?

    /// Nil for bytes that are no answer, or half of one.
    package init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self).utf8
        guard let end = text.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: text[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(at: " ", maxSplits: 2) ?? []
        guard words.count > 1, words[0] == "HTTP/1.1", let status = Int(words[1]) else { return nil }
        var fields: [String: Substring] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.unicodeScalars.firstIndex(of: ":") else { return nil }
            fields[line[..<colon].lowercased()] = line[line.unicodeScalars.index(after: colon)...].drop { $0 == " " }
        }
        self.status = status
        body = Array(text[end.upperBound...])
        // Without content there is no length (RFC 9110, section 15.3.5).
        let length = status == 204 ? 0 : fields["content-length"].flatMap { Int($0) }
        guard length == body.count else { return nil }
        next = fields["link"].flatMap { link in
            guard link.hasPrefix("<"), link.hasSuffix(">; rel=\"next\"") else { return nil }
            return link.dropFirst().unicodeScalars.firstIndex(of: ">").map { String(link[..<$0].dropFirst()) }
        }
    }

    /// The sentence a problem says, as text or as JSON.
    package var complaint: String {
        let text = String(decoding: body, as: UTF8.self)
        return String(text.split(at: "\n").first ?? "the service answers with status \(status)")
    }
}
