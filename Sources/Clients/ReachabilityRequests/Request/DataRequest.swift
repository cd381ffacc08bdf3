import LinuxSupport
import ReachabilityRetry

/// A request whose answer is kept in memory. It is one exchange: sent when it is made (``Session/startRequestsImmediately``), and its result
/// is the same for all that wait for it. If the last task that waits is cancelled, so is the request.
///
/// A check that is added after the answer came is asked when the answer is next handed over.
public final class DataRequest: ValidatedRequest {
    /// The request, with the session's header fields; adapters are asked later.
    public let request: OutgoingRequest

    private let checks: Locked<Validator>
    private let exchange: Exchange<Answer>
    /// Nil where there is no body.
    private let upload: UploadWatch?
    /// Whether a handler sends the request.
    private let startsWithHandler: Bool
    /// The handler that was added last.
    private let lastHandler = Locked<Task<Void, Never>?>(nil)

    init(
        _ made: Result<OutgoingRequest, UnmadeRequest>,
        in session: Session,
        _ interceptor: (any RequestInterceptor)?
    ) {
        let failure: RequestError?
        switch made {
        case .success(let request):
            self.request = request.adding(session.headers)
            failure = nil
        case .failure(let unmade):
            request = unmade.request
            failure = unmade.error
        }
        let checks = Locked(Validator())
        let upload = request.body.map { UploadWatch(UploadProgress(completed: 0, total: try? $0.length())) }
        (self.checks, self.upload) = (checks, upload)
        exchange = Exchange(cancelled: Answer(error: failure ?? .explicitlyCancelled)) { [request] in
            if let failure { return Answer(error: failure) }
            defer { upload?.finish() }
            return await session.send(request, checks, interceptor, watching: upload)
        }
        startsWithHandler = session.startRequestsImmediately
        // In a task that is cancelled there is nobody to send it for.
        if session.startRequestsImmediately, !Task.isCancelled { exchange.start() }
    }

    /// Sends it, if that was not done.
    @discardableResult
    public func resume() -> DataRequest {
        exchange.start()
        return self
    }

    /// How far it is.
    public var state: RequestState {
        guard exchange.hasBegun else { return .initialized }
        guard let answer = exchange.result else { return .resumed }
        return answer.error?.isExplicitlyCancelledError == true ? .cancelled : .finished
    }

    /// The head of the answer; nil before the end, and if there was none.
    public var response: ResponseHead? { exchange.result?.response }

    /// How often it was sent again; 0 before the end.
    public var retryCount: Int { exchange.result?.metrics.retryCount ?? 0 }

    /// Ends it, whatever it does: a wait, an attempt, the body. Of what has ended nothing is changed.
    @discardableResult
    public func cancel() -> DataRequest {
        exchange.cancel()
        if exchange.result != nil { upload?.finish() }
        return self
    }

    /// How much of the body was handed to the connection, from now on, the newest alone for who reads slowly; nothing where there is no
    /// body. It ends with the request, and begins nothing.
    public var uploadProgress: AsyncStream<UploadProgress> {
        guard let upload else { return AsyncStream { $0.finish() } }
        defer { if exchange.result != nil { upload.finish() } }
        return upload.progress
    }

    /// As a command line of curl(1).
    public func cURLDescription(showingSecrets: Bool = false) -> String {
        request.cURLDescription(showingSecrets: showingSecrets)
    }

    /// Adds to the checks of its answer.
    @discardableResult
    public func checking(_ change: (inout Validator) -> Void) -> DataRequest {
        checks.withLock { change(&$0) }
        return self
    }

    /// The answer, judged by all checks that there are now.
    func answer(starts: Bool = true) async -> Answer {
        var answer = await exchange.value(starts: starts)
        if answer.error == nil, let head = answer.response {
            answer.error = checks.withLock { $0 }.refusal(request, head, answer.data, after: answer.checkCount)
        }
        return answer
    }

    /// Does something with the answer after everything that was given before.
    func enqueue(_ work: @escaping @Sendable (Answer) async -> Void) {
        if startsWithHandler { exchange.start() }
        lastHandler.withLock { last in
            let before = last
            last = Task { [self] in
                await before?.value
                await work(await answer(starts: false))
            }
        }
    }
}

/// Bytes, a file or a form are sent by the same kind of request.
public typealias UploadRequest = DataRequest

/// How far a request is.
public enum RequestState: String, Hashable, Sendable {
    /// It was not sent.
    case initialized
    /// It is under way.
    case resumed
    /// It was cancelled.
    case cancelled
    /// There is an answer, or an error.
    case finished
}

/// A request that could not be made.
struct UnmadeRequest: Error {
    let error: RequestError
    let request: OutgoingRequest
}
