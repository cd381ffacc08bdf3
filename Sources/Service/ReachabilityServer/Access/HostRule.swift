import LinuxPrimitives
import NIOHTTP1
import NetworkReachability
import ServerTrust

/// The service is asked by a name of its own, and by no page from elsewhere.
///
/// A page of a stranger can make a browser ask 127.0.0.1, or give its own name that address (DNS rebinding). Both show: the browser names
/// the stranger's host in `Host` or in `Origin`.
enum HostRule {
    /// - Parameter hosts: By which names the service is asked with TLS.
    /// - Throws: ``Problem`` with what is wrong.
    static func check(_ request: WebRequest, hosts: [HostPattern]) throws(Problem) {
        if case .local = request.way { return }
        let isSecured = request.way != .loopback
        let found = request.headers["Host"]
        guard found.count == 1, let host = found.first, let name = name(of: host) else {
            throw Problem(.misdirectedRequest, "Host names the service once, with the port or without")
        }
        if !isSecured {
            guard isOfThisMachine(name) else {
                throw Problem(
                    .misdirectedRequest,
                    "Host names this machine: localhost, 127.0.0.1 or [::1], with the port or without"
                )
            }
        } else {
            guard let server = try? ServerHost(name), hosts.contains(where: { $0.matches(server) }) else {
                throw Problem(
                    .misdirectedRequest,
                    "Host is neither a name of the service's certificate nor one of access.hosts in its configuration"
                )
            }
        }
        let own = "\(isSecured ? "https" : "http")://\(host.lowercased())"
        for origin in request.headers["Origin"] where origin.lowercased() != own {
            throw Problem(.forbidden, "pages from elsewhere may not ask: Origin is \(origin.printable)")
        }
    }

    /// Without the port, whichever it is, for it may be forwarded to; nil where what should be one is none.
    private static func name(of host: String) -> String? {
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host }
        return UInt16(host[host.index(after: colon)...]) == nil ? nil : String(host[..<colon])
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
