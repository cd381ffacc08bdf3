import LinuxPrimitives
import ServerTrust

/// Lets every server pass, on purpose: nothing is sent to it, and what it has shown is judged afterwards, or only printed.
final class LookingEvaluator: ServerTrustEvaluating {
    /// What it has shown; nil before it has.
    var shown: ServerTrust? { content.withLock { $0 } }

    private let content = Locked<ServerTrust?>(nil)

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        content.withLock { $0 = trust }
    }
}
