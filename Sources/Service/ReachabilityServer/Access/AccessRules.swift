import Glibc
import LinuxPrimitives
import NIOHTTP1
import NetworkReachability

/// Who may ask over the loopback: programs and pages of this machine, not pages from elsewhere in its browsers.
///
/// A page of a stranger can make a browser ask 127.0.0.1, or give its own name that address (DNS rebinding). Both show: the browser names
/// the stranger's host in `Host` or in `Origin`.
enum LoopbackRule {
    /// - Throws: ``Problem`` with what is wrong.
    static func check(_ request: WebRequest) throws(Problem) {
        guard request.way == .loopback else { return }
        let hosts = request.headers[canonicalForm: "Host"].map(String.init)
        guard hosts.count == 1, let host = hosts.first, isOfThisMachine(host) else {
            throw Problem(
                .misdirectedRequest,
                "Host names this machine: localhost, 127.0.0.1 or [::1], with the port or without"
            )
        }
        for origin in request.headers[canonicalForm: "Origin"]
        where origin.lowercased() != "http://\(host.lowercased())" {
            throw Problem(.forbidden, "pages from elsewhere may not ask: Origin is \(String(origin).printable)")
        }
    }

    /// `localhost:9672`, `127.0.0.1`, `[::1]:9672`. Any port, for it may be forwarded to.
    static func isOfThisMachine(_ host: String) -> Bool {
        var name = host[...]
        if let colon = name.lastIndex(of: ":"), !name.hasSuffix("]") {
            guard UInt16(name[name.index(after: colon)...]) != nil else { return false }
            name = name[..<colon]
        }
        if name.lowercased() == "localhost" || name.lowercased().hasSuffix(".localhost") { return true }
        if name.hasPrefix("["), name.hasSuffix("]") {
            return IPAddress(String(name.dropFirst().dropLast())).map { $0.isIPv6 && $0.isLoopback } ?? false
        }
        return IPAddress(String(name)).map { !$0.isIPv6 && $0.isLoopback } ?? false
    }
}

extension IPAddress {
    /// Whether only this machine can be reached at it: 127.0.0.0/8 and `::1`.
    var isLoopback: Bool { wire.isLoopback }
}

/// Who may change something, over the Unix socket: root, the user the service runs as, and members of the group `reachability`.
enum AdminRule {
    /// The group, which need not be there.
    static let group = "reachability"

    /// - Parameter number: The number of that group now. It is asked for where it matters alone, on the calling thread.
    /// - Throws: ``Problem`` for everybody else.
    static func check(
        _ request: WebRequest,
        group number: () -> UInt32? = { UserGroup.number(of: group) }
    ) throws(Problem) {
        guard case .local(let user, let groups) = request.way else {
            throw Problem(.forbidden, "this is asked over the Unix socket only")
        }
        if let user, user == 0 || user == geteuid() { return }
        // Who comes from another user namespace is nobody, whatever its groups.
        if user != nil, let number = number(), groups.contains(number) { return }
        throw Problem(
            .forbidden,
            "only root, the user the service runs as and members of the group \(group) may ask this"
        )
    }
}
