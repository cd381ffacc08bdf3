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

    /// A Boolean value that indicates whether the URL names a Unix domain socket.
    private var isSocket: Bool { scheme.hasSuffix("+unix") }

    private init?(reference: String, base: RequestURL?, allowsSockets: Bool) {
        guard let text = Self.encoded(reference) else { return nil }
        // The fragment is not sent.
        var rest = text.prefix { $0 != "#" }
        var scheme = base?.scheme
        if let colon = rest.unicodeScalars.firstIndex(of: ":"),
            rest[..<colon].allSatisfy({ $0.isLetter || $0.isNumber || "+-.".contains($0) }),
            rest.first?.isLetter == true
        {
            scheme = rest[..<colon].lowercased()
            rest = rest[rest.unicodeScalars.index(after: colon)...]
            guard rest.hasPrefix("//") else { return nil }
        }
        guard let scheme, ["http", "https"].contains(scheme) || allowsSockets && Self.socketSchemes.contains(scheme)
        else {
            return nil
        }
        self.scheme = scheme
        let hasAuthority = rest.hasPrefix("//")
        if hasAuthority {
            let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
            rest = rest.dropFirst(2 + authority.count)
            let at = authority.unicodeScalars.lastIndex(of: "@")
            userInfo = base == nil ? at.map { String(authority[..<$0]) } : nil
            guard
                let place = Self.place(
                    at.map { authority[authority.unicodeScalars.index(after: $0)...] } ?? authority[...]
                )
            else {
                return nil
            }
            host = Self.socketSchemes.contains(scheme) ? place.host : place.host.lowercased()
            port = place.port ?? (scheme == "https" ? 443 : 80)
        } else {
            guard let base else { return nil }
            (host, port, userInfo) = (base.host, base.port, nil)
        }
        let named = rest.prefix { $0 != "?" }
        let asked = named.endIndex < rest.endIndex ? String(rest[named.endIndex...].dropFirst()) : nil
        if let base, named.isEmpty, !hasAuthority {
            (path, query) = (base.path, asked ?? (rest.isEmpty ? base.query : nil))
        } else if let base, !named.hasPrefix("/"), !hasAuthority {
            let folder = base.path.unicodeScalars.lastIndex(of: "/").map { base.path[..<$0] } ?? ""
            (path, query) = (Self.withoutDots("\(folder)/\(named)"), asked)
        } else {
            (path, query) = (Self.withoutDots(named.isEmpty ? "/" : named), asked)
        }
    }

    private static let socketSchemes: Set = ["http+unix", "https+unix"]

    /// Returns the host and port of an authority without user.
    private static func place(_ text: Substring) -> (host: String, port: Int?)? {
        var (host, port) = (text, Substring())
        if text.hasPrefix("[") {
            guard let end = text.unicodeScalars.firstIndex(of: "]") else { return nil }
            host = text[text.unicodeScalars.index(after: text.startIndex)..<end]
            port = text[text.unicodeScalars.index(after: end)...]
            guard port.isEmpty || port.hasPrefix(":") else { return nil }
        } else if let colon = text.unicodeScalars.lastIndex(of: ":") {
            (host, port) = (text[..<colon], text[colon...])
        }
        guard !host.isEmpty else { return nil }
        port = port.dropFirst()
        if port.isEmpty { return (String(host), nil) }
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port), (1...65535).contains(number)
        else { return nil }
        return (String(host), number)
    }

    /// Removes dot segments (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: some StringProtocol) -> String {
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
