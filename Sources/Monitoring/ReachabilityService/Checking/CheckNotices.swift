import NetworkReachability
import ReachabilityChecks

/// Warnings about checks that cannot work as configured. They are reported before the first check.
package enum CheckNotices {
    /// A Boolean value that indicates whether this process may send ICMP echo requests in its network namespace.
    package static var mayEcho: Bool { CheckEngine.mayEcho }

    /// Returns the warnings about the checks of some targets.
    ///
    /// - Parameters:
    ///   - targets: The targets to check.
    ///   - mayEcho: Returns whether this process may send ICMP echo requests in its network namespace.
    /// - Returns: One sentence per warning. Control characters are escaped.
    package static func of(_ targets: [ServiceTarget], mayEcho: () -> Bool = { CheckNotices.mayEcho }) -> [String] {
        let pinging = targets.filter { target in
            target.namespace == .current && target.checks?.questions.contains { $0.target?.isEcho == true } == true
        }
        guard !pinging.isEmpty, !mayEcho() else { return [] }
        return [
            """
            ping is not permitted, so "ping" checks send a UDP datagram and try a TCP connection instead, which some hosts do not answer; \
            to permit it, add a group of this process to the sysctl net.ipv4.ping_group_range
            """
        ]
    }
}
