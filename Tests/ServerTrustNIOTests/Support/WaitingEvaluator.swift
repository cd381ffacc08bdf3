import ServerTrust

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
            await goOn.wait()
        } onCancel: {
            cancelled.open()
            if !ignoresCancellation { goOn.open() }
        }
        answered.open()
    }
}
