import Dispatch
import LinuxSupport
import ServerTrust

/// Blocks its thread until it is told to go on, as evaluators that ask a file or a daemon do, and then trusts everybody.
final class BlockingEvaluator: ServerTrustEvaluating {
    /// Opened when so many block at once.
    let allBlock = Gate()
    private let goOn = DispatchSemaphore(value: 0)
    private let wanted: Int
    private let counts = Locked((asked: 0, givenUp: 0))

    init(count: Int) {
        wanted = count
    }

    /// How many were not told in time.
    var givenUp: Int { counts.withLock { $0.givenUp } }

    func release() {
        for _ in 0..<wanted { goOn.signal() }
    }

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        let isLast = counts.withLock { counts in
            counts.asked += 1
            return counts.asked == wanted
        }
        if isLast { allBlock.open() }
        if goOn.wait(timeout: .now() + 10) == .timedOut { counts.withLock { $0.givenUp += 1 } }
    }
}
