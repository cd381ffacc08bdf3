import LinuxSupport
import NetworkReachability
import ServerTrust
import ServerTrustNIO

/// The target of a check: a host, a port, a name, or a web, TLS, DNS, SSH or time server.
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
        /// A TLS handshake with the server of this URL must complete, after a dialogue if there is one.
        case handshake(TrustedHTTPURL, StartTLS?)
        /// The name must have an address. No packet is sent to the host.
        case name
        /// A DNS server that must return records of a name.
        case dns(RecordQuery)
        case ssh(port: UInt16)
        case ntp(port: UInt16)
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
    private(set) var service: Service
    /// The request to a web server, and the requirements for its response.
    package var exchange = WebExchange()
    /// The minimum remaining validity of the server's certificate; nil for any.
    package var certificateDays: CertificateDays?
    /// The SHA-256 fingerprints of the host keys of an SSH server, as `ssh-keygen -l` prints them. If empty, the key is not examined.
    package var hostKeys: Set<String> = []
    /// The maximum stratum of a time server.
    package var maximumStratum: UInt8 = 15

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
            case .ssh: .ssh
            case .ntp: .ntp
            }
    }

    /// The kind of the check with its port, path or name, such as `tcp 22` or `https /health`.
    package var summary: String {
        switch service {
        case .any: return text
        case .echo: return "ping"
        case .tcp(let port): return "tcp \(port)"
        case .name: return "name"
        case .dns(let query): return query.type == .a ? "dns \(query.name)" : "dns \(query.type) \(query.name)"
        case .ssh(let port): return port == 22 ? "ssh" : "ssh \(port)"
        case .ntp(let port): return port == 123 ? "ntp" : "ntp \(port)"
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

/// The minimum remaining validity of a certificate, in days.
package struct CertificateDays: Hashable, Sendable {
    /// A certificate that is valid for fewer days makes the target degraded.
    package let warn: Int
    /// The number of days below which the reason is `certificateNearlyExpired`; nil for none.
    package let alert: Int?

    package init(warn: Int, alert: Int? = nil) {
        (self.warn, self.alert) = (warn, alert)
    }
}

extension CheckTarget {
    /// Creates a target that must complete a TLS handshake.
    ///
    /// - Parameter dialogue: The mail protocol in which a command begins TLS; nil for a server that begins with TLS.
    /// - Throws: ``CheckInputError`` if the host is invalid.
    package static func handshake(
        with host: String,
        port: UInt16,
        after dialogue: StartTLS? = nil
    ) throws(CheckInputError) -> CheckTarget {
        let place = IPAddress(host)?.urlText ?? host
        let url = try url("https://\(place):\(port)/")
        let scheme = dialogue?.rawValue ?? "tls"
        return CheckTarget("\(scheme)://\(place):\(port)", "\(url.host)", .handshake(url, dialogue))
    }

    /// Creates a target that is a DNS server and must return records of a name.
    ///
    /// - Parameters:
    ///   - type: The type of the records, for example `MX`.
    ///   - expected: The records that the answer must contain; empty for any record.
    /// - Throws: ``CheckInputError`` if the host, the name, the type or a record is invalid.
    package static func dns(
        at host: String,
        _ name: String,
        type: String = "A",
        expecting expected: [String] = []
    ) throws(CheckInputError) -> CheckTarget {
        let place = IPAddress(host)?.urlText ?? host
        var target = try CheckTarget("dns://\(place)/\(name)" + (type == "A" ? "" : "?type=\(type)"))
        guard case .dns(var query) = target.service else { return target }
        try query.expect(expected)
        target.service = .dns(query)
        return target
    }

    /// The record types that can be queried at a DNS server, in alphabetical order.
    package static let recordTypes: [String] = DNSRecordType.named.keys.sorted()

    /// Returns whether a text has the form of the fingerprint of a host key that `ssh-keygen -l` prints.
    package static func isHostKey(_ text: String) -> Bool { SSHHostKey.isFingerprint(text) }

    /// Creates a target that must answer an echo.
    ///
    /// - Throws: ``CheckInputError`` if the host is invalid.
    package static func echo(_ host: String) throws(CheckInputError) -> CheckTarget {
        try CheckTarget("icmp://\(IPAddress(host)?.urlText ?? host)")
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
            guard parts.count == 2, let query = try RecordQuery(parts[1], of: text) else {
                throw .target(text, "it has no server and name; write dns://192.0.2.53/example.org")
            }
            let (host, port) = try Self.server(String(parts[0]), of: text)
            guard port == nil else { throw .target(text, "DNS servers are always queried at port 53") }
            self.init(text, host, .dns(query))
        case "ssh":
            let (host, port) = try Self.server(rest, of: text)
            self.init(text, host, .ssh(port: port ?? 22))
        case "ntp":
            let (host, port) = try Self.server(rest, of: text)
            self.init(text, host, .ntp(port: port ?? 123))
        case "tls", "smtp", "imap", "pop3":
            let dialogue = StartTLS(rawValue: text[..<end.lowerBound].lowercased())
            let (host, port) = try Self.server(rest, of: text)
            self = try .handshake(with: host, port: port ?? dialogue?.port ?? 443, after: dialogue)
        case "http", "https":
            let url = try Self.url(text)
            self.init(text.secretsMasked, "\(url.host)", .web(url))
        case let scheme:
            throw .target(text, "the scheme \(scheme.printable) is unknown; use \(Self.schemes)")
        }
    }

    private static let schemes = "tcp, tls, http, https, icmp, dns, ssh, ntp, smtp, imap or pop3"

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
