import LinuxSupport
import ServerTrust

/// Counts the evaluations of hosts, and does what it is told when it has.
struct PlayedEvaluator: ServerTrustEvaluating {
    let hosts = Locked<[String]>([])
    var deed: @Sendable () async -> Void = {}

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        try DefaultTrustEvaluator().evaluate(trust, forHost: host)
    }

    func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        hosts.withLock { $0.append(host) }
        await deed()
        try evaluate(trust, forHost: host)
    }
}
