import LinuxSupport
public import ServerTrust

/// An absolute URL of HTTP (RFC 3986; RFC 9110, 4.2).
///
/// Hosts may be in any script and become A-labels; a fragment is left away; bytes of a path or query that are not ASCII are
/// percent-encoded. Everything else is sent as it was written.
public struct TrustedHTTPURL: Hashable, Sendable {
    /// What is spoken.
    public enum Scheme: String, Hashable, Sendable {
        /// Without TLS.
        case http
        /// With TLS.
        case https

        /// What counts when the URL names no port (RFC 9110, 4.2).
        public var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// What is spoken.
    public let scheme: Scheme

    /// Whom the connection is meant for.
    public let host: ServerHost

    /// 1 to 65535.
    public let port: Int

    /// Path and query, beginning with `/`.
    public let target: String

    /// The interface of a link-local address (RFC 6874), which is nobody's concern but this machine's.
    let zone: String?

    /// Whether the name of the host ended in a dot, so that no domain is appended to find it (resolv.conf(5)).
    let hasFinalDot: Bool

    /// What is looked up, or connected to (getaddrinfo(3)).
    var lookupName: String { "\(host)\(zone.map { "%" + $0 } ?? "")\(hasFinalDot ? "." : "")" }

    /// `Host` of a request (RFC 9110, 7.2).
    package var authority: String { hostText + portText }

    /// The same with the port always, which CONNECT wants (RFC 9110, 9.3.6).
    var authorityWithPort: String { "\(hostText):\(port)" }

    /// Whether both name the same server in the same way (RFC 6454, 4).
    func hasOrigin(of other: TrustedHTTPURL) -> Bool {
        scheme == other.scheme && lookupName == other.lookupName && port == other.port
    }

    private var hostText: String { isIPv6 ? "[\(host)]" : "\(host)" }

    private var portText: String { port == scheme.defaultPort ? "" : ":\(port)" }

    private var isIPv6: Bool { host.isAddress && host.description.contains(":") }
}

extension TrustedHTTPURL: CustomStringConvertible {
    /// The URL as text; ``init(_:)`` reads it.
    public var description: String {
        let name = isIPv6 ? "[\(host)\(zone.map { "%25" + $0 } ?? "")]" : lookupName
        return "\(scheme.rawValue)://\(name)\(portText)\(target)"
    }
}

extension TrustedHTTPURL {
    /// Reads `http://` or `https://`, a host, and the rest.
    ///
    /// - Throws: ``TrustedHTTPFailure/invalidURL(_:problem:)``, which says what is wrong.
    public init(_ text: String) throws(TrustedHTTPFailure) {
        guard text.utf8.count <= Self.maximumLength else {
            throw Self.invalid("\(text.prefix(64))…", "it is longer than \(Self.maximumLength) bytes")
        }
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f }) else {
            throw Self.invalid(text, "it has a blank or a control character; write it percent-encoded")
        }
        let name = text.prefix { $0 != ":" }.lowercased()
        let start = text.dropFirst(name.count)
        guard let scheme = Scheme(rawValue: name), start.hasPrefix("://") else {
            throw Self.invalid(text, "it does not begin with http:// or https://")
        }
        let rest = start.dropFirst(3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // It would stand in logs, and in messages of errors.
        guard !authority.contains("@") else {
            throw Self.invalid("\(name)://…", "it names a user; put credentials into the header Authorization")
        }
        let (hostText, portText) = try Self.split(authority, of: text)
        self.scheme = scheme
        port = try Self.port(portText, of: text) ?? scheme.defaultPort
        (host, zone) = try Self.host(hostText, of: text)
        hasFinalDot = !host.isAddress && hostText.last == "."
        target = Self.target(rest.dropFirst(authority.count))
    }

    /// Longer ones are refused by most servers.
    static let maximumLength = 8192

    static func invalid(_ text: String, _ problem: String) -> TrustedHTTPFailure {
        .invalidURL(text, problem: problem)
    }

    /// Host and port; only an address in brackets may have more colons.
    private static func split(
        _ authority: Substring,
        of text: String
    ) throws(TrustedHTTPFailure) -> (host: Substring, port: Substring?) {
        if authority.first == "[" {
            guard let end = authority.unicodeScalars.firstIndex(of: "]") else {
                throw invalid(text, "a bracket is not closed")
            }
            let behind = authority[authority.unicodeScalars.index(after: end)...]
            guard behind.isEmpty || behind.first == ":" else { throw invalid(text, "the address in it is none") }
            return (authority[..<behind.startIndex], behind.isEmpty ? nil : behind.dropFirst())
        }
        let parts = authority.split(at: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else {
            throw invalid(text, "there are several colons; an IPv6 address stands in brackets")
        }
        return (parts[0], parts.count == 2 ? parts[1] : nil)
    }

    private static func port(_ digits: Substring?, of text: String) throws(TrustedHTTPFailure) -> Int? {
        guard let digits, !digits.isEmpty else { return nil }
        let isNumber = digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isNumber, let port = Int(digits), (1...65535).contains(port) else {
            throw invalid(text, "the port is not between 1 and 65535")
        }
        return port
    }

    private static func host(
        _ text: Substring,
        of url: String
    ) throws(TrustedHTTPFailure) -> (ServerHost, zone: String?) {
        var (text, zone) = (String(text), String?.none)
        if text.first == "[", let percent = text.unicodeScalars.firstIndex(of: "%") {
            var name = text[percent...].dropFirst().dropLast()
            if name.hasPrefix("25") { name = name.dropFirst(2) }
            let isName = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
            guard !name.isEmpty, isName else { throw invalid(url, "behind the address stands no name of an interface") }
            zone = String(name)
            text = text[..<percent] + "]"
        }
        do {
            return (try ServerHost(text), zone)
        } catch {
            throw invalid(url, "\(error)")
        }
    }

    private static func target(_ rest: Substring) -> String {
        let text = rest.prefix { $0 != "#" }
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte in
            byte < 0x80 ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return (text.first == "/" ? "" : "/") + String(decoding: bytes, as: UTF8.self)
    }
}

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
