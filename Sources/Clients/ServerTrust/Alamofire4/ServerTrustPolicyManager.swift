import Logging

/// Which policy is for which host: the manager of Alamofire 4, with the patterns of ``HostPattern``; the most specific decides.
///
/// A pattern that is none, or two for the same hosts, make all hosts be refused.
public final class ServerTrustPolicyManager: Sendable {
    /// As they were given.
    public let policies: [String: ServerTrustPolicy]

    private let table: HostTable<ServerTrustPolicy>
    private let lookup: (@Sendable (String) -> ServerTrustPolicy?)?

    /// - Parameters:
    ///   - policies: By patterns of hosts.
    ///   - lookup: Asked first, for what patterns cannot say, with the host as ``ServerHost`` writes it; nil goes on with `policies`. It is what overriding
    ///     `serverTrustPolicy(forHost:)` is in Alamofire.
    public init(
        policies: [String: ServerTrustPolicy],
        lookup: (@Sendable (_ host: String) -> ServerTrustPolicy?)? = nil
    ) {
        self.policies = policies
        self.lookup = lookup
        table = HostTable(policies)
    }

    /// The policy for a host, nil if there is none. A text that is no host, or a manager with a pattern that is none, has one that
    /// refuses everything.
    public func serverTrustPolicy(forHost host: String) -> ServerTrustPolicy? {
        if let policy = lookup?(ServerHost.canonical(host)) { return policy }
        do {
            return try table.value(forHost: host)
        } catch {
            let reason = error
            return .customEvaluation { trust, host in
                trust.logger.warning("\(ServerTrustError(reason: reason, host: host))")
                return false
            }
        }
    }
}
