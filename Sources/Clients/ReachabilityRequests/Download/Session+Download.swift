import LinuxSupport
import ReachabilityRetry

extension Session {
    /// Asks for the rest again and again, as long as something more came each time.
    func download(
        _ request: OutgoingRequest,
        _ checks: Locked<Validator>,
        _ interceptor: (any RequestInterceptor)?,
        _ partial: PartialDownload,
        _ fileChecks: Locked<[FileValidation]>,
        replacing: Bool
    ) async -> Answer {
        let began = ContinuousClock.now
        defer { partial.leave() }
        var attempts: [RetryAttempt] = []
        var hasStartedOver = false
        var answer: Answer
        while true {
            let size = partial.size
            answer = await send(partial.askForRest(in: request), checks, interceptor, into: partial)
            attempts += answer.metrics.attempts
            if Task.isCancelled { answer.error = .explicitlyCancelled }
            do throws(RequestError) {
                guard let error = answer.error else {
                    for check in fileChecks.withLock({ $0 }) { try await partial.check(by: check) }
                    try partial.check(answer, of: request, by: checks.withLock { $0 })
                    if Task.isCancelled { throw .explicitlyCancelled }
                    try partial.finish(replacing: replacing)
                    break
                }
                if case .downloadInterrupted(let cause) = error,
                    case .startOver(let reason) = cause as? DownloadFailure,
                    !hasStartedOver
                {
                    hasStartedOver = true
                    try partial.startOver(because: reason)
                } else if !(error.mayGoOn && partial.isResumable && partial.size > size) {
                    break
                }
            } catch {
                answer.error = error
                break
            }
        }
        answer.metrics.attempts = attempts
        answer.metrics.receivedBytes = partial.received
        answer.metrics.duration = began.duration(to: .now)
        return answer
    }
}

extension RequestError {
    /// Whether the rest may come when it is asked for.
    fileprivate var mayGoOn: Bool {
        switch self {
        case .sessionTaskFailed: true
        case .downloadInterrupted(let cause): (cause as? DownloadFailure)?.mayGoOn == true
        default: false
        }
    }
}
