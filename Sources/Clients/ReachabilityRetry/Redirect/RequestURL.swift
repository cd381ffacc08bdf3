import LinuxSupport

/// The parts of an absolute HTTP URL (RFC 3986, RFC 9110 section 4.2) that requests and redirects need.
package struct RequestURL: Hashable, Sendable {
    /// The scheme: `http` or `https`. With ``init(_:allowsSockets:)`` also `http+unix` or `https+unix`.
    package let scheme: String
    /// The host in lower case, without the brackets of an IPv6 address. For a Unix domain socket, the path of the
    /// socket.
    package let host: String
    /// The port. If the URL has none, the default port of the scheme.
    package let port: Int
    /// The path. It starts with a slash.
    package let path: String
    /// The part after the question mark. Nil if the URL has no question mark.
    package let query: String?
    /// The user and password before the host; nil if there are none.
    package let userInfo: String?

    /// Parses an absolute URL. Returns nil for any other text or scheme.
    ///
    /// - Parameter allowsSockets: True if the URL of a Unix domain socket is accepted. It has the path of the socket in
    ///   place of the host.
    package init?(_ text: String, allowsSockets: Bool = false) {
        self.init(reference: text, base: nil, allowsSockets: allowsSockets)
    }

    /// Resolves the field Location of a redirect (RFC 9110, 10.2.2) against the URL of the request, by RFC 3986 section
    /// 5.2.2. Spaces and characters outside ASCII are percent-encoded, as browsers do. A user and password in the field
    /// are ignored.
    package init?(location: String, from base: RequestURL) {
        self.init(reference: location, base: base, allowsSockets: base.isSocket)
    }

    /// The host with `%` in place of `%25` before a zone (RFC 6874). Empty for a Unix domain socket.
    package var targetHost: String {
        guard !isSocket, host.utf8.contains(UInt8(ascii: "%")) else { return isSocket ? "" : host }
        return host.replacing(scalars: "%25", with: "%", maxReplacements: 1)
    }

    /// A Boolean value that indicates whether the URL names a Unix domain socket.
    private var isSocket: Bool { scheme.hasSuffix("+unix") }

    private init?(reference: String, base: RequestURL?, allowsSockets: Bool) {
        // All characters are ASCII from here on.
        guard let text = Self.encoded(reference) else { return nil }
        // The fragment is not sent.
        var rest = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        var scheme = base?.scheme
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = Substring(rest[..<colon]).lowercased()
            rest = rest[colon...].dropFirst()
            guard rest.starts(with: "//".utf8) else { return nil }
        }
        guard let scheme, ["http", "https"].contains(scheme) || allowsSockets && Self.socketSchemes.contains(scheme)
        else {
            return nil
        }
        self.scheme = scheme
        let hasAuthority = rest.starts(with: "//".utf8)
        if hasAuthority {
            let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            rest = rest[authority.endIndex...]
            let at = authority.lastIndex(of: UInt8(ascii: "@"))
            userInfo = base == nil ? at.map { String(Substring(authority[..<$0])) } : nil
            guard let place = Self.place(at.map { authority[$0...].dropFirst() } ?? authority) else { return nil }
            host = Self.socketSchemes.contains(scheme) ? place.host : place.host.lowercased()
            port = place.port ?? (scheme == "https" ? 443 : 80)
        } else {
            guard let base else { return nil }
            (host, port, userInfo) = (base.host, base.port, nil)
        }
        let named = rest.prefix { $0 != UInt8(ascii: "?") }
        let asked = named.endIndex < rest.endIndex ? String(Substring(rest[named.endIndex...].dropFirst())) : nil
        if let base, named.isEmpty, !hasAuthority {
            (path, query) = (base.path, asked ?? (rest.isEmpty ? base.query : nil))
        } else if let base, named.first != UInt8(ascii: "/"), !hasAuthority {
            let folder = base.path.unicodeScalars.lastIndex(of: "/").map { base.path[..<$0] } ?? ""
            (path, query) = (Self.withoutDots("\(folder)/\(Substring(named))"), asked)
        } else {
            (path, query) = (Self.withoutDots(named.isEmpty ? "/" : Substring(named)), asked)
        }
    }

    private static func isScheme(_ text: Substring.UTF8View) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard let first = text.first, letters.contains(first | 0x20) else { return false }
        return text.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: letters.contains(byte | 0x20)
            }
        }
    }

    private static let socketSchemes: Set = ["http+unix", "https+unix"]

    /// Returns the host and port of an authority without user.
    private static func place(_ text: Substring.UTF8View) -> (host: String, port: Int?)? {
        var (host, port) = (text, text[text.endIndex...])
        if text.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            (host, port) = (text[..<end].dropFirst(), text[end...].dropFirst())
            guard port.isEmpty || port.first == UInt8(ascii: ":") else { return nil }
        } else if let colon = text.lastIndex(of: UInt8(ascii: ":")) {
            (host, port) = (text[..<colon], text[colon...])
        }
        guard !host.isEmpty else { return nil }
        let (name, digits) = (String(Substring(host)), port.dropFirst())
        if digits.isEmpty { return (name, nil) }
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(Substring(digits)),
            (1...65535).contains(number)
        else { return nil }
        return (name, number)
    }

    /// Removes dot segments (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: some StringProtocol) -> String {
        guard path.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else {
            return String(path)
        }
        var segments: [Substring] = []
        let parts = Substring(path).split(at: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part.lowercased().replacing(scalars: "%2e", with: ".") {
            case ".": if isLast { segments.append("") }
            case "..":
                if !segments.isEmpty { segments.removeLast() }
                if isLast { segments.append("") }
            default: segments.append(part)
            }
        }
        return "/" + segments.joined(separator: "/")
    }

    /// Returns the percent-encoded text; nil if the text contains control characters.
    private static func encoded(_ text: String) -> String? {
        if text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) { return text }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        return text.percentEncoded { "!"..."~" ~= $0 }
    }

    /// The URL without user, password and fragment, as it is sent.
    package var text: String { origin + path + (query.map { "?" + $0 } ?? "") }

    /// The scheme, host and port (RFC 6454), for example `https://example.org`. The default port of the scheme is
    /// omitted. Contains no secrets.
    package var origin: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(scheme)://\(name)" + (port == (scheme == "https" ? 443 : 80) ? "" : ":\(port)")
    }
}
