/// Percent-encoding of names and values in a query or a form (RFC 3986, sections 2.1 and 3.4).
enum QueryEscaping {
    /// Unreserved characters, and `/` and `?`, which may stand in a query (RFC 3986, section 3.4).
    static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?".unicodeScalars
    )
    private static let digits = Array("0123456789ABCDEF".unicodeScalars)

    static func escape(_ text: String, allowed: Set<Unicode.Scalar> = allowed) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if allowed.contains(scalar) {
                result.append(scalar)
                continue
            }
            for byte in String(scalar).utf8 {
                result.append("%")
                result.append(digits[Int(byte >> 4)])
                result.append(digits[Int(byte & 15)])
            }
        }
        return String(result)
    }

    /// The URL with more in its query, in front of its fragment.
    static func append(_ query: String, to url: String) -> String {
        guard !query.isEmpty else { return url }
        let hash = url.unicodeScalars.firstIndex(of: "#") ?? url.endIndex
        let (front, fragment) = (url[..<hash], url[hash...])
        guard let mark = front.unicodeScalars.firstIndex(of: "?") else { return front + "?" + query + fragment }
        let old = front[front.unicodeScalars.index(after: mark)...]
        return front + (old.isEmpty || old.hasSuffix("&") ? "" : "&") + query + fragment
    }
}
