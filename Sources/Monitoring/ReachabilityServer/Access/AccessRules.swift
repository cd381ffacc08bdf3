import Crypto
import Glibc
import LinuxSupport
import NIOHTTP1
import NetworkReachability
import ReachabilityService
import ServerTrust

/// The access rules.
///
/// | Transport | Clients that may read | Clients that may change something |
/// |---|---|---|
/// | the Unix socket | all that may connect | root, the service's user and the group `reachability` |
/// | HTTP over the loopback | all programs of this machine | those with a token of the scope `admin` |
/// | HTTPS | those with a token, or a certificate of the authorities | those with a token of the scope `admin` |
///
/// A foreign page can make a browser send requests to 127.0.0.1, or resolve its own name to that address (DNS rebinding). In both cases the
/// browser sends the foreign host in `Host` or `Origin`. Without TLS there may be no token, so `Sec-Fetch-Site` (Fetch Metadata) counts too:
/// a link of another site may lead to a page of the dashboard, and to nothing else.
struct AccessRules: Sendable {
    /// The names of the service for TLS.
    var hosts: [HostPattern] = []
    var tokens: [AccessSettings.Token] = []

    /// Checks a request, and returns its token.
    func admit(_ request: WebRequest, isPage: Bool = false) throws(Problem) -> AccessSettings.Token? {
        try checkHost(request, isPage: isPage)
        switch request.way {
        case .local: return nil
        // Without configured tokens an Authorization field over the loopback is ignored.
        case .loopback where tokens.isEmpty: return nil
        case .loopback, .secured(certificate: .some):
            return try PresentedToken(request.headers).map { presented throws(Problem) in try token(presented) }
        case .secured(certificate: nil): return try token(PresentedToken(request.headers))
        }
    }

    private func token(_ presented: PresentedToken?) throws(Problem) -> AccessSettings.Token {
        if let token = presented?.known(among: tokens) { return token }
        let detail =
            presented == nil
            ? "a token is required: Authorization: Bearer TOKEN, or as the password in a browser"
            : "the token is unknown: create one with `reachability serve token` for [access] in the configuration"
        let bearer = "Bearer realm=\"reachability\"" + (presented == nil ? "" : ", error=\"invalid_token\"")
        // Browsers show a password dialog for Basic.
        let basic = "Basic realm=\"reachability\", charset=\"UTF-8\""
        throw Problem(.unauthorized, detail, headers: [("WWW-Authenticate", bearer), ("WWW-Authenticate", basic)])
    }

    /// The group of administrators, which need not exist.
    static let group = "reachability"

    /// Refuses a request for a change by another client than an administrator.
    ///
    /// - Parameter number: Returns the current number of the group. It is called only if necessary, on the calling thread.
    static func checkAdministrator(
        _ request: WebRequest,
        group number: () -> UInt32? = { UserGroup.number(of: group) }
    ) throws(Problem) {
        guard case .local(let user, let groups) = request.way else {
            if request.token?.scope == .admin { return }
            throw Problem(
                .forbidden,
                "this requires the Unix socket, or a token of the scope admin",
                headers: [
                    ("WWW-Authenticate", "Bearer realm=\"reachability\", error=\"insufficient_scope\", scope=\"admin\"")
                ]
            )
        }
        if let user, user == 0 || user == geteuid() { return }
        // A process of another user namespace has no user here, and its groups do not count.
        if user != nil, let number = number(), groups.contains(number) { return }
        throw Problem(.forbidden, "this requires root, the user of the service or the group \(group)")
    }
}

extension AccessRules {
    /// Refuses requests for other hosts, and requests from pages of other sites.
    private func checkHost(_ request: WebRequest, isPage: Bool) throws(Problem) {
        if case .local = request.way { return }
        let isSecured = request.way != .loopback
        if !isSecured { try Self.checkSite(request, isPage: isPage) }
        // RFC 9112, 3.2. No browser sends HTTP/1.0 without it.
        let count = request.headers["Host"].count
        guard count == 1 || count == 0 && request.version == .http1_0 else {
            throw Problem(.badRequest, "a request has one field Host")
        }
        guard let host = request.host else {
            if let origin = request.headers.first(name: "Origin") { throw Self.foreign(origin) }
            return
        }
        guard let name = Self.name(of: host) else {
            throw Problem(.misdirectedRequest, "Host names the service, with the port or without")
        }
        // A proxy such as nginx sends HTTP/1.0 and may pass on its own name. Browsers do not send HTTP/1.0.
        let isForwarded = !isSecured && request.version == .http1_0 && host == request.headers.first(name: "Host")
        guard isForwarded || !isSecured && Self.isOfThisMachine(name) || isKnown(name) else {
            throw Problem(
                .misdirectedRequest,
                isSecured
                    ? "Host is neither a name of the service's certificate nor one of access.hosts in its configuration"
                    : "Host names this machine: localhost, 127.0.0.1 or [::1]; behind a proxy it may be one of access.hosts"
            )
        }
        // The browser may use TLS to the proxy.
        let schemes = isSecured ? ["https"] : isForwarded ? ["http", "https"] : ["http"]
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
        Problem(.forbidden, "pages of other sites have no access: Origin is \(origin.printable)")
    }

    /// Refuses requests that a page of another site causes, except navigation to a page.
    private static func checkSite(_ request: WebRequest, isPage: Bool) throws(Problem) {
        func field(_ name: String) -> String? { request.headers.first(name: name)?.lowercased() }
        guard let site = request.headers["Sec-Fetch-Site"].first(where: { !["same-origin", "none"].contains($0) })
        else { return }
        let isNavigation =
            isPage && request.method == .GET && field("Sec-Fetch-Mode") == "navigate"
            && field("Sec-Fetch-Dest") == "document"
        guard isNavigation else {
            throw Problem(.forbidden, "pages of other sites have no access: Sec-Fetch-Site is \(site.printable)")
        }
    }

    /// The host without its port, which may be any, because the port may be forwarded. Nil for an invalid port.
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

extension IPAddress {
    /// Whether it is in 127.0.0.0/8 or `::1`.
    var isLoopback: Bool { wire.isLoopback }
}

/// The token of a request: from `Bearer` (RFC 6750), or the password of `Basic` (RFC 7617) with any user, for browsers. Tokens in the
/// address are not accepted, because logs contain addresses.
struct PresentedToken {
    /// The token; nil if the field is invalid.
    private let bytes: [UInt8]?

    /// Nil without the field `Authorization`.
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

    /// Returns the configured token. Comparing hashes does not reveal the token by its timing.
    func known(among tokens: [AccessSettings.Token]) -> AccessSettings.Token? {
        guard let bytes else { return nil }
        let digest = Array(SHA256.hash(data: bytes))
        return tokens.first { $0.digest == digest }
    }
}
