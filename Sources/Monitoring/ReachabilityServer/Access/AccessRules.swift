import Crypto
import Glibc
import LinuxSupport
import NIOHTTP1
import NetworkReachability
import ReachabilityService
import ServerTrust

/// The access rules.
///
/// | Transport | Clients that may read | Clients that may make changes |
/// |---|---|---|
/// | Unix socket | all that can connect | root, the user of the service, and members of the group `reachability` |
/// | HTTP over loopback | all programs on this machine | clients with a token of scope `admin` |
/// | HTTPS | clients with a token, or with a certificate from the authorities | clients with a token of scope `admin` |
/// | HTTP or HTTPS through a configured proxy | clients with a token | clients with a token of scope `admin` |
///
/// A push requires the token of its target or the permission to make changes (``PushTokens``).
///
/// A web page of another site can make a browser send requests to 127.0.0.1, or resolve its own name to that address (DNS rebinding). In
/// both cases the browser sends the host of that site in `Host` or `Origin`. Because requests without TLS may have no token,
/// `Sec-Fetch-Site` (Fetch Metadata) is checked as well. Pages of other sites may link to a page of the dashboard, but not to the API.
struct AccessRules: Sendable {
    /// The host names and addresses of the service.
    var hosts: [HostPattern] = []
    /// The configured tokens.
    var tokens: [AccessSettings.Token] = []
    /// The reverse proxies.
    var proxies: [AddressPrefix] = []

    /// Replaces the peer of a request that a configured proxy forwarded, because its client is not on this machine.
    func useProxy(of request: inout WebRequest) {
        func isProxy(_ address: WireAddress) -> Bool { proxies.contains { $0.contains(address) } }
        guard let remote = request.remote, isProxy(remote) else { return }
        let hops = request.headers[canonicalForm: "X-Forwarded-For"].map { AddressLiteral(String($0))?.wire }
        // A client can send the field too. A proxy adds its own client at the end, so the client is the last one that is not a proxy.
        guard let client = hops.last(where: { $0.map { !isProxy($0) } ?? true }) else { return }
        if let client { request.client = WebClient(client) }
        request.peer = .secured(certificate: nil)
        let isSecured = request.headers[canonicalForm: "X-Forwarded-Proto"].last?.lowercased() == "https"
        request.forwardedScheme = isSecured ? "https" : "http"
    }

    /// Checks whether a request may read.
    ///
    /// - Returns: The token of the request; nil if it has none and needs none.
    /// - Throws: ``Problem`` if the request is not allowed.
    func admit(_ request: WebRequest, isPage: Bool = false) throws(Problem) -> AccessSettings.Token? {
        try checkHost(request, isPage: isPage)
        switch request.peer {
        case .local: return nil
        // If no tokens are configured, `Authorization` is ignored on loopback.
        case .loopback where tokens.isEmpty: return nil
        case .loopback, .secured(certificate: .some):
            return try PresentedToken(request.headers).map { presented throws(Problem) in try token(presented) }
        case .secured(certificate: nil), .open: return try token(PresentedToken(request.headers))
        }
    }

    private func token(_ presented: PresentedToken?) throws(Problem) -> AccessSettings.Token {
        if let token = presented?.known(among: tokens) { return token }
        let detail =
            presented == nil
            ? "a token is required; send Authorization: Bearer TOKEN, or enter it as the password in a browser"
            : "the token is unknown; create one with `reachability serve token` and add it to [access] in the configuration"
        throw Problem.unauthorized(detail, isUnknown: presented != nil)
    }

    /// The group of administrators. It does not have to exist.
    static let group = "reachability"

    /// Checks whether a request may make changes.
    ///
    /// - Parameter number: Returns the current id of the group. It is called only if necessary, on the calling thread.
    /// - Throws: ``Problem`` if the client is not an administrator.
    static func checkAdministrator(
        _ request: WebRequest,
        group number: () -> UInt32? = { UserGroup.number(of: group) }
    ) throws(Problem) {
        guard case .local(let user, let groups) = request.peer else {
            if request.token?.scope == .admin { return }
            throw Problem(
                .forbidden,
                "this request requires the Unix socket, or a token of scope admin",
                headers: [
                    ("WWW-Authenticate", "Bearer realm=\"reachability\", error=\"insufficient_scope\", scope=\"admin\"")
                ]
            )
        }
        if let user, user == 0 || user == geteuid() { return }
        // A process in another user namespace has no user id here. Then its groups are ignored.
        if user != nil, let number = number(), groups.contains(number) { return }
        throw Problem(.forbidden, "this request requires root, the user of the service or the group \(group)")
    }
}

extension AccessRules {
    /// Rejects requests for other hosts and requests from web pages of other sites.
    func checkHost(_ request: WebRequest, isPage: Bool) throws(Problem) {
        if case .local = request.peer { return }
        let isSecured = request.peer != .loopback
        if !isSecured { try Self.checkSite(request, isPage: isPage) }
        // Source: RFC 9112, 3.2. Only clients of HTTP/1.0, which no browser is, may omit `Host`.
        let count = request.headers["Host"].count
        guard count == 1 || count == 0 && request.version == .http1_0 else {
            throw Problem(.badRequest, "a request must have exactly one Host field")
        }
        guard let host = request.host else {
            if let origin = request.headers.first(name: "Origin") { throw Self.foreign(origin) }
            return
        }
        guard let name = Self.name(of: host) else {
            throw Problem(.misdirectedRequest, "Host must be a name or address, with or without a port")
        }
        // A proxy such as nginx uses HTTP/1.0 and may forward its own name in `Host`. Browsers do not use HTTP/1.0.
        let isForwarded = !isSecured && request.version == .http1_0 && host == request.headers.first(name: "Host")
        guard isForwarded || !isSecured && Self.isOfThisMachine(name) || isKnown(name) else {
            throw Problem(
                .misdirectedRequest,
                isSecured
                    ? "Host must be a name in the certificate of the service or one of access.hosts in its configuration"
                    : "Host must be localhost, a loopback address or one of access.hosts in the configuration"
            )
        }
        // Between the browser and the proxy, TLS may be used.
        let schemes =
            request.forwardedScheme.map { [$0] }
            ?? (isSecured ? ["https"] : isForwarded ? ["http", "https"] : ["http"])
        for origin in request.headers["Origin"]
        where !schemes.contains(where: { origin.lowercased() == "\($0)://\(host.lowercased())" }) {
            throw Self.foreign(origin)
        }
    }

    private func isKnown(_ name: String) -> Bool {
        guard let server = try? ServerHost(name) else { return false }
        return hosts.contains { $0.matches(server) }
    }

    private static func foreign(_ origin: String) -> Problem {
        Problem(.forbidden, "web pages of other sites have no access: Origin is \(origin.printable)")
    }

    /// Rejects requests that a web page of another site causes, except navigation to a page of the dashboard.
    private static func checkSite(_ request: WebRequest, isPage: Bool) throws(Problem) {
        func field(_ name: String) -> String? { request.headers.first(name: name)?.lowercased() }
        guard let site = request.headers["Sec-Fetch-Site"].first(where: { !["same-origin", "none"].contains($0) })
        else { return }
        let isNavigation =
            isPage && request.method == .GET && field("Sec-Fetch-Mode") == "navigate"
            && field("Sec-Fetch-Dest") == "document"
        guard isNavigation else {
            throw Problem(.forbidden, "web pages of other sites have no access: Sec-Fetch-Site is \(site.printable)")
        }
    }

    /// Returns the host without its port; nil for an invalid port. Any port is allowed, because it may be forwarded.
    private static func name(of host: String) -> String? {
        guard let colon = host.unicodeScalars.lastIndex(of: ":"), !host.hasSuffix("]") else { return host }
        return UInt16(host[host.unicodeScalars.index(after: colon)...]) == nil ? nil : String(host[..<colon])
    }

    /// `localhost`, `127.0.0.1`, `[::1]`.
    private static func isOfThisMachine(_ name: String) -> Bool {
        if name.lowercased() == "localhost" || name.lowercased().hasSuffix(".localhost") { return true }
        if name.hasPrefix("["), name.hasSuffix("]") {
            return IPAddress(String(name.dropFirst().dropLast())).map { $0.isIPv6 && $0.isLoopback } ?? false
        }
        return IPAddress(name).map { !$0.isIPv6 && $0.isLoopback } ?? false
    }
}

extension Problem {
    /// Returns the error of a request that needs another token.
    static func unauthorized(_ detail: String, isUnknown: Bool = false) -> Problem {
        let bearer = "Bearer realm=\"reachability\"" + (isUnknown ? ", error=\"invalid_token\"" : "")
        // Browsers show a password dialog only for Basic.
        let basic = "Basic realm=\"reachability\", charset=\"UTF-8\""
        return Problem(.unauthorized, detail, headers: [("WWW-Authenticate", bearer), ("WWW-Authenticate", basic)])
    }
}

extension IPAddress {
    /// A Boolean value that indicates whether the address is in 127.0.0.0/8 or is `::1`.
    var isLoopback: Bool { wire.isLoopback }
}

/// The token of a request: that of `Bearer` (RFC 6750), or the password of `Basic` (RFC 7617) with any user, which browsers send.
///
/// Tokens in the URL are not accepted, because logs contain URLs.
struct PresentedToken {
    /// The token; nil if the field `Authorization` is invalid.
    private let bytes: [UInt8]?

    /// Reads the token. The result is nil without the field `Authorization`.
    init?(_ headers: HTTPHeaders) {
        let fields = headers["Authorization"]
        guard let field = fields.first else { return nil }
        bytes = fields.count == 1 ? Self.read(field) : nil
    }

    private static func read(_ field: String) -> [UInt8]? {
        let parts = field.split(at: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let content = parts[1].drop { $0 == " " }
        switch parts[0].lowercased() {
        case "bearer": return Array(content.utf8)
        case "basic":
            guard let pair = Base64.decode(content), let colon = pair.firstIndex(of: UInt8(ascii: ":")) else {
                return nil
            }
            return Array(pair[(colon + 1)...])
        default: return nil
        }
    }

    /// Returns a Boolean value that indicates whether `digest` is the SHA-256 of the token.
    func matches(_ digest: [UInt8]) -> Bool { bytes.map { Array(SHA256.hash(data: $0)) } == digest }

    /// Returns the configured token that matches; nil if none does. Hashes are compared, so that the timing does not reveal a token.
    func known(among tokens: [AccessSettings.Token]) -> AccessSettings.Token? {
        guard let bytes else { return nil }
        let digest = Array(SHA256.hash(data: bytes))
        return tokens.first { $0.digest == digest }
    }
}
