import LinuxSupport
import NetworkReachability
import ServerTrust
import ServerTrustNIO

/// The target of a check: a host, a port, a web server, a TLS server, a name or a DNS server.
///
/// ```swift
/// let target = try CheckTarget("https://www.example.org/")
/// ```
public struct CheckTarget: Hashable, Sendable {
    /// The service of the target that must answer.
    enum Service: Hashable, Sendable {
        /// Any answer of the host is sufficient.
        case any
        case echo
        case tcp(port: UInt16)
        case web(TrustedHTTPURL)
        /// A TLS handshake with the server of this URL must complete.
        case handshake(TrustedHTTPURL)
        /// The name must have an address. No packet is sent to the host.
        case name
        /// A DNS server that must return an address of a name.
        case dns(DNSName)
    }

    /// The target as given by the user. The query of a URL is masked (`https://example.org/health?***`), because it may contain a token,
    /// and reports, histories and webhooks contain this text.
    public let text: String
    /// The name to look up. Nil for an address, and for a name with fixed addresses.
    package var name: String?
    /// The kind of probe that must succeed. Nil if any answer of the host is sufficient.
    package let decisive: ProbeKind?
    /// True if an echo must be answered.
    package var isEcho: Bool { decisive == .echo }
    /// The name or the address of the host, without brackets.
    let host: String
    let service: Service
    /// The accepted statuses of a web server. If nil, all statuses below 500.
    package var expectedStatus: ClosedRange<Int>?

    /// Creates a target without a service, for the evaluation of evidence.
    package init(_ text: String, name: String? = nil, decisive: ProbeKind? = nil) {
        (self.text, self.name, self.decisive) = (text, name, decisive)
        (host, service) = (text, .any)
    }

    private init(_ text: String, _ host: String, _ service: Service) {
        (self.text, self.host, self.service) = (text, host, service)
        name = IPAddress(host) == nil ? host : nil
        decisive =
            switch service {
            case .any: nil
            case .echo: .echo
            case .tcp: .tcp
            case .web: .http
            case .handshake: .tls
            case .dns: .dns
            case .name: .resolve
            }
    }

    /// The kind of the check with its port, path or name, such as `tcp 22` or `https /health`.
    package var summary: String {
        switch service {
        case .any: return text
        case .echo: return "ping"
        case .tcp(let port): return "tcp \(port)"
        case .name: return "name"
        case .dns(let name): return "dns \(name)"
        case .web, .handshake:
            guard let end = text.firstRange(of: "://") else { return text }
            let place = IPAddress(host)?.urlText ?? host
            guard text[end.upperBound...].hasPrefix(place) else { return text }
            let rest = text[end.upperBound...].dropFirst(place.count)
            return rest == "/" || rest.isEmpty ? String(text[..<end.lowerBound]) : "\(text[..<end.lowerBound]) \(rest)"
        }
    }

    /// The address of the host; nil if the host is a name.
    var address: IPAddress? { IPAddress(host) }
}

extension CheckTarget {
    /// Creates a target that must complete a TLS handshake.
    ///
    /// - Throws: ``CheckInputError`` if the host is invalid.
    package static func handshake(with host: String, port: UInt16) throws(CheckInputError) -> CheckTarget {
        let place = IPAddress(host)?.urlText ?? host
        let url = try url("https://\(place):\(port)/")
        return CheckTarget("tls://\(place):\(port)", "\(url.host)", .handshake(url))
    }

    /// Creates a target whose name must have an address.
    ///
    /// - Throws: ``CheckInputError`` if the host is an address or invalid.
    package static func name(_ host: String) throws(CheckInputError) -> CheckTarget {
        let target = try CheckTarget(host)
        guard target.name != nil else { throw .target(host, "an address has no name to look up") }
        return CheckTarget("the name \(host)", target.host, .name)
    }

    /// Parses a host, an address, `host:port`, `[address]:port`, `tcp://host:port`, `http://host/`, `https://host/`, `icmp://host` or
    /// `dns://server/name`.
    ///
    /// Names may contain characters of any script (RFC 5891). They are converted to A-labels.
    ///
    /// - Throws: ``CheckInputError`` if the text has another form.
    public init(_ text: String) throws(CheckInputError) {
        guard let end = text.firstRange(of: "://") else {
            let (host, port) = try Self.server(text, of: text)
            self.init(text, host, port.map { .tcp(port: $0) } ?? .any)
            return
        }
        let rest = String(text[end.upperBound...])
        switch text[..<end.lowerBound].lowercased() {
        case "tcp":
            let (host, port) = try Self.server(rest, of: text)
            guard let port else { throw .target(text, "it has no port; write tcp://example.org:22") }
            self.init(text, host, .tcp(port: port))
        case "icmp":
            let (host, port) = try Self.server(rest, of: text)
            guard port == nil else { throw .target(text, "an echo has no port") }
            self.init(text, host, .echo)
        case "dns":
            let parts = rest.split(at: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let ascii = IDNA.ascii(String(parts[1])), !ascii.isEmpty, let name = DNSName(ascii)
            else { throw .target(text, "it has no server and name; write dns://192.0.2.53/example.org") }
            let (host, port) = try Self.server(String(parts[0]), of: text)
            guard port == nil else { throw .target(text, "DNS servers are always queried at port 53") }
            self.init(text, host, .dns(name))
        case "http", "https":
            let url = try Self.url(text)
            self.init(text.secretsMasked, "\(url.host)", .web(url))
        case let scheme:
            throw .target(text, "the scheme \(scheme.printable) is unknown; use tcp, http, https, icmp or dns")
        }
    }

    static func url(_ text: String) throws(CheckInputError) -> TrustedHTTPURL {
        do throws(TrustedHTTPFailure) {
            return try TrustedHTTPURL(text)
        } catch {
            if case .invalidURL(_, let problem) = error { throw .target(text, problem) }
            throw .target(text, "\(error)")
        }
    }

    /// Splits a host and its port. A text with two colons outside brackets is an IPv6 address.
    private static func server(
        _ text: String,
        of whole: String
    ) throws(CheckInputError) -> (host: String, port: UInt16?) {
        guard let server = HostAndPort(text, allowsBareAddress: true),
            !server.isBracketed || server.host.contains(":")
        else { throw .target(whole, "brackets are for IPv6 addresses; write [2001:db8::1]:443") }
        let host = try host(server.host, of: whole)
        guard server.digits != nil else { return (host, nil) }
        guard let port = server.port(orElse: 0) else { throw .target(whole, "the port is not between 1 and 65535") }
        return (host, port)
    }

    private static func host(_ text: String, of whole: String) throws(CheckInputError) -> String {
        if let address = IPAddress(text) {
            if address.isLinkLocal, address.isIPv6, address.zone == nil {
                throw .target(whole, "a link-local address needs an interface; write \(text)%eth0, for example")
            }
            return text
        }
        guard let host = try? ServerHost(text), !host.isAddress else {
            throw .target(
                whole,
                "it has no host name or address; write example.org, 192.0.2.1:80 or https://example.org/"
            )
        }
        return "\(host)"
    }
}

/// The error for an invalid target or option.
public enum CheckInputError: Error, Hashable, Sendable {
    /// The text is not a target. The values are the text and the reason.
    case target(String, String)
    /// The value of an option is invalid. The values are the text and the reason.
    case option(String, String)
}

extension CheckInputError: CustomStringConvertible {
    /// The error as one sentence. Control characters are escaped.
    public var description: String {
        switch self {
        case .target(let text, let problem): "cannot check \"\(text.secretsMasked.printable)\": \(problem)"
        case .option(let text, let problem): "\"\(text.printable)\" \(problem)"
        }
    }
}
