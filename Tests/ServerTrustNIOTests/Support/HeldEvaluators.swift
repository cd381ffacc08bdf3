import Dispatch
import LinuxSupport
import ServerTrust
import TestSupport

/// An evaluator that waits until it is released or cancelled, and then trusts every server. A late verdict must be
/// ignored.
struct WaitingEvaluator: ServerTrustEvaluating {
    /// Whether the evaluator continues to wait when its task is cancelled.
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

/// An evaluator that blocks its thread until it is released, like an evaluator that reads a file, and then trusts
/// every server.
final class BlockingEvaluator: ServerTrustEvaluating {
    /// Opened when the expected number of evaluations block at once.
    let allBlock = Gate()
    private let goOn = DispatchSemaphore(value: 0)
    private let wanted: Int
    private let counts = Locked((asked: 0, givenUp: 0))

    init(count: Int) {
        wanted = count
    }

    /// The number of evaluations that were not released in time.
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
