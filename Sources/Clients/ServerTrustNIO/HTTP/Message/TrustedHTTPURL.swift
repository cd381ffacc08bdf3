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
