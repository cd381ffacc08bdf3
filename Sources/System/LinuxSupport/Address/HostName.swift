/// The grammar of host names (RFC 952, RFC 1123), with letters of every script (RFC 5891).
package enum HostName {
    /// Whether `text` may be given to the name service: labels of letters, digits, `-` and `_`, 63 bytes each and 253 in
    /// all as they are encoded, a last dot allowed. URLs, ports, blanks, the empty string and numbers such as `10.1` are none.
    package static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= 1024, let ascii = IDNA.ascii(text) else { return false }
        var labels = ascii.split(at: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard let last = labels.last, labels.reduce(labels.count - 1, { $0 + $1.utf8.count }) <= 253 else {
            return false
        }
        return labels.allSatisfy(isLabel) && !last.allSatisfy(\.isNumber)
    }

    /// As the name service is asked for it: in ASCII. In the C locale the C library does not encode by itself (AI_IDN).
    package static func encoded(_ text: String) -> String { IDNA.ascii(text) ?? text }

    /// Whether there is such a form.
    package static func isEncodable(_ text: String) -> Bool { IDNA.ascii(text) != nil }

    private static func isLabel(_ label: Substring) -> Bool {
        guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
        return label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "-" || $0 == "_" }
    }
}
