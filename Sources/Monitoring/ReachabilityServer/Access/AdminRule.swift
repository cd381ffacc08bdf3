import Glibc
import LinuxSupport
import NIOHTTP1
import ReachabilityService

/// Who may change something: over the Unix socket root, the user the service runs as, and members of the group `reachability`; elsewhere
/// who has a token for that.
package enum AdminRule {
    /// The group, which need not be there.
    static let group = "reachability"

    /// - Throws: ``Problem`` for everybody else.
    package static func check(_ request: WebRequest) throws(Problem) {
        try check(request) { UserGroup.number(of: group) }
    }

    /// - Parameter number: The number of that group now. It is asked for where it matters alone, on the calling thread.
    static func check(
        _ request: WebRequest,
        group number: () -> UInt32?
    ) throws(Problem) {
        guard case .local(let user, let groups) = request.way else {
            if request.token?.scope == .admin { return }
            throw Problem(
                .forbidden,
                "this is asked over the Unix socket, or with a token of the scope admin",
                headers: [
                    ("WWW-Authenticate", "Bearer realm=\"reachability\", error=\"insufficient_scope\", scope=\"admin\"")
                ]
            )
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
