import NetworkReachability
import ReachabilityChecks

/// What a person should know of the checks before they begin.
package enum CheckNotices {
    /// Whether this process may send echoes in its network namespace.
    package static var mayEcho: Bool { CheckEngine.mayEcho }

    /// - Parameters:
    ///   - targets: What is checked.
    ///   - mayEcho: Whether this process may send echoes in its network namespace.
    /// - Returns: One sentence each, safe to print.
    package static func of(_ targets: [ServiceTarget], mayEcho: () -> Bool = { CheckNotices.mayEcho }) -> [String] {
        let pinging = targets.filter { target in
            target.namespace == .current && target.checks?.questions.contains { $0.target?.isEcho == true } == true
        }
        guard !pinging.isEmpty, !mayEcho() else { return [] }
        return [
            """
            ping is not permitted, so the checks "ping" send a datagram and try a connection instead, which some hosts do not answer; \
            to permit it, put a group of this process into the sysctl net.ipv4.ping_group_range
            """
        ]
    }
}
