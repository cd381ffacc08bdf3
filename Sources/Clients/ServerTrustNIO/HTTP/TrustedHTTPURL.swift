import LinuxSupport
package import ServerTrust

/// An absolute HTTP URL (RFC 3986; RFC 9110, 4.2).
///
/// Host names in any script are converted to A-labels. A fragment is removed. Bytes of the path and the query that are
/// not ASCII are percent-encoded. The rest is unchanged.
package struct TrustedHTTPURL: Hashable, Sendable {
    package enum Scheme: String, Hashable, Sendable {
        case http
        case https

        /// The port of a URL without one (RFC 9110, 4.2).
        package var defaultPort: Int { self == .http ? 80 : 443 }
    }

    package let scheme: Scheme

    /// The host that the certificate must name.
    package let host: ServerHost

    /// The port, from 1 to 65535.
    package let port: Int

    /// The path and the query, beginning with `/`.
    package let target: String

    /// The interface of a link-local address (RFC 6874). It is not sent to the server.
    let zone: String?

    /// A Boolean value that indicates whether the host name has a trailing dot, so that the resolver appends no search
    /// domain (resolv.conf(5)).
    let hasFinalDot: Bool

    /// The name for getaddrinfo(3).
    var lookupName: String { "\(host)\(zone.map { "%" + $0 } ?? "")\(hasFinalDot ? "." : "")" }

    /// The value of the header field `Host` (RFC 9110, 7.2).
    package var authority: String { hostText + portText }

    /// The authority with its port, which CONNECT requires (RFC 9110, 9.3.6).
    var authorityWithPort: String { "\(hostText):\(port)" }

    private var hostText: String { isIPv6 ? "[\(host)]" : "\(host)" }

    private var portText: String { port == scheme.defaultPort ? "" : ":\(port)" }

    private var isIPv6: Bool { host.isAddress && host.description.contains(":") }
}

extension TrustedHTTPURL: CustomStringConvertible {
    /// The URL as text, which ``init(_:)`` parses.
    package var description: String {
        let name = isIPv6 ? "[\(host)\(zone.map { "%25" + $0 } ?? "")]" : lookupName
        return "\(scheme.rawValue)://\(name)\(portText)\(target)"
    }
}

extension TrustedHTTPURL {
    /// Parses a URL with the scheme `http` or `https`.
    ///
    /// - Throws: ``TrustedHTTPFailure/invalidURL(_:problem:)``.
    package init(_ text: String) throws(TrustedHTTPFailure) {
        guard text.utf8.count <= Self.maximumLength else {
            throw Self.invalid("\(text.prefix(64))…", "it is longer than \(Self.maximumLength) bytes")
        }
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f }) else {
            throw Self.invalid(text, "it has a space or a control character; write it percent-encoded")
        }
        let name = text.prefix { $0 != ":" }.lowercased()
        let start = text.dropFirst(name.count)
        guard let scheme = Scheme(rawValue: name), start.hasPrefix("://") else {
            throw Self.invalid(text, "it does not begin with http:// or https://")
        }
        let rest = start.dropFirst(3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // The credentials would appear in logs and error messages.
        guard !authority.contains("@") else {
            throw Self.invalid("\(name)://…", "it contains a user name; put credentials into the header Authorization")
        }
        guard let place = HostAndPort(authority) else {
            throw Self.invalid(text, "the part after // is not HOST or HOST:PORT; write an IPv6 address in brackets")
        }
        let hasPort = place.digits?.isEmpty == false
        guard let port = hasPort ? place.port(orElse: 0).map(Int.init) : scheme.defaultPort else {
            throw Self.invalid(text, "the port is not between 1 and 65535")
        }
        self.scheme = scheme
        self.port = port
        (host, zone) = try Self.host(place, of: text)
        hasFinalDot = !host.isAddress && place.host.unicodeScalars.last == "."
        target = Self.target(rest.dropFirst(authority.count))
    }

    /// Returns the URL with a path appended to its path, before the query.
    ///
    /// - Parameter path: A percent-encoded path that begins with `/`. If it is empty, the URL is unchanged.
    package func appending(path: String) -> TrustedHTTPURL {
        if path.isEmpty { return self }
        let own = target.prefix { $0 != "?" }
        return TrustedHTTPURL(
            scheme: scheme,
            host: host,
            port: port,
            target: (own.hasSuffix("/") ? own.dropLast() : own) + path + target.dropFirst(own.count),
            zone: zone,
            hasFinalDot: hasFinalDot
        )
    }

    /// The maximum length in bytes. Most servers refuse longer URLs.
    static let maximumLength = 8192

    static func invalid(_ text: String, _ problem: String) -> TrustedHTTPFailure {
        .invalidURL(text, problem: problem)
    }

    private static func host(
        _ place: HostAndPort,
        of url: String
    ) throws(TrustedHTTPFailure) -> (ServerHost, zone: String?) {
        var (text, zone) = (place.host, String?.none)
        if place.isBracketed {
            let parts = text.split(at: "%", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 {
                let name = parts[1].hasPrefix("25") ? parts[1].dropFirst(2) : parts[1]
                let isName = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
                guard !name.isEmpty, isName else {
                    throw invalid(url, "the zone of the address is not an interface name")
                }
                zone = String(name)
            }
            text = "[\(parts[0])]"
        }
        do {
            return (try ServerHost(text), zone)
        } catch {
            throw invalid(url, "\(error)")
        }
    }

    private static func target(_ rest: Substring) -> String {
        let text = rest.prefix { $0 != "#" }
        return (text.first == "/" ? "" : "/") + text.percentEncoded(keeping: \.isASCII)
    }
}
