/// The grammar of host names (RFC 952, RFC 1123), with letters of every script for the resolver to encode.
enum HostName {
    /// Whether `text` may be given to the name service: labels of letters, digits, `-` and `_`, 63 bytes each and 253 in
    /// all, a last dot allowed. URLs, ports, blanks, the empty string and numbers such as `10.1` are none.
    static func isValid(_ text: String) -> Bool {
        var labels = text.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard let last = labels.last, text.utf8.count <= 254 else { return false }
        return labels.allSatisfy(isLabel) && !last.allSatisfy(\.isNumber)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
        return label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }
}
