import LinuxSupport
import NIOHTTP1
import NetworkReachability
import ServerTrust

/// The service is asked by a name of its own, and by no page from elsewhere.
///
/// A page of a stranger can make a browser ask 127.0.0.1, or give its own name that address (DNS rebinding). Both show: the browser names
/// the stranger's host in `Host` or in `Origin`. Without TLS there may be no token, so what browsers say of the page that asks counts, too
/// (`Sec-Fetch-Site`, Fetch Metadata): a link to a page of the dashboard may be followed from anywhere, and nothing else is answered.
enum HostRule {
    /// - Parameters:
    ///   - hosts: The names of the service in its certificate and its configuration. Without TLS the names of this machine are good, too.
    ///   - isPage: Whether a page for people is requested.
    /// - Throws: ``Problem`` with what is wrong.
    static func check(_ request: WebRequest, hosts: [HostPattern], isPage: Bool = false) throws(Problem) {
        if case .local = request.way { return }
        let isSecured = request.way != .loopback
        if !isSecured { try checkSite(request, isPage: isPage) }
        // RFC 9112, 3.2. No browser sends HTTP/1.0 without it.
        let count = request.headers["Host"].count
        guard count == 1 || count == 0 && request.version == .http1_0 else {
            throw Problem(.badRequest, "a request has one field Host")
        }
        guard let host = request.host else {
            if let origin = request.headers.first(name: "Origin") { throw foreign(origin) }
            return
        }
        guard let name = name(of: host) else {
            throw Problem(.misdirectedRequest, "Host names the service, with the port or without")
        }
        // A proxy such as nginx speaks HTTP/1.0 and may pass on the name it is asked by. No browser speaks it.
        let isForwarded = !isSecured && request.version == .http1_0 && host == request.headers.first(name: "Host")
        guard isForwarded || !isSecured && isOfThisMachine(name) || isKnown(name, hosts) else {
            throw Problem(
                .misdirectedRequest,
                isSecured
                    ? "Host is neither a name of the service's certificate nor one of access.hosts in its configuration"
                    : "Host names this machine: localhost, 127.0.0.1 or [::1]; behind a proxy it may be one of access.hosts"
            )
        }
        // A proxy may speak TLS to the browser.
        let schemes = isSecured ? ["https"] : isForwarded ? ["http", "https"] : ["http"]
        for origin in request.headers["Origin"]
        where !schemes.contains(where: { origin.lowercased() == "\($0)://\(host.lowercased())" }) {
            throw foreign(origin)
        }
    }

    private static func isKnown(_ name: String, _ hosts: [HostPattern]) -> Bool {
        guard let server = try? ServerHost(name) else { return false }
        return hosts.contains { $0.matches(server) }
    }

    private static func foreign(_ origin: String) -> Problem {
        Problem(.forbidden, "pages from elsewhere may not ask: Origin is \(origin.printable)")
    }

    /// Refuses what a page of another site makes a browser request, except that the browser goes to a page.
    private static func checkSite(_ request: WebRequest, isPage: Bool) throws(Problem) {
        func field(_ name: String) -> String? { request.headers.first(name: name)?.lowercased() }
        guard let site = request.headers["Sec-Fetch-Site"].first(where: { !["same-origin", "none"].contains($0) })
        else { return }
        let isNavigation =
            isPage && request.method == .GET && field("Sec-Fetch-Mode") == "navigate"
            && field("Sec-Fetch-Dest") == "document"
        guard isNavigation else {
            throw Problem(.forbidden, "pages from elsewhere may not ask: Sec-Fetch-Site is \(site.printable)")
        }
    }

    /// Without the port, whichever it is, for it may be forwarded to; nil where what should be one is none.
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
    /// Whether only this machine can be reached at it: 127.0.0.0/8 and `::1`.
    var isLoopback: Bool { wire.isLoopback }
}
