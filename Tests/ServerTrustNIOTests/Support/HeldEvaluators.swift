import Dispatch
import LinuxSupport
import ServerTrust
import TestSupport

/// Waits until it is told to go on, or cancelled, and then trusts everybody: what comes too late must not count.
struct WaitingEvaluator: ServerTrustEvaluating {
    /// Whether it goes on waiting when its task is cancelled.
    var ignoresCancellation = false
    let goOn = Gate()
    let asked = Gate()
    let cancelled = Gate()
    let answered = Gate()

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        throw ServerTrustError(reason: .custom("this evaluator can only be waited for"), host: host)
    }

    func evaluateOnline(_ trust: ServerTrust, forHost host: String) async throws(ServerTrustError) {
        asked.open()
        await withTaskCancellationHandler {
            await goOn.waitIgnoringCancellation()
        } onCancel: {
            cancelled.open()
            if !ignoresCancellation { goOn.open() }
        }
        answered.open()
    }
}

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
