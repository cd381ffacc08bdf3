import LinuxPrimitives
import ReachabilityRetry

/// A request whose answer is kept in memory. It is one exchange: sent when somebody first waits for it, and what came of it is for all
/// who do. When the last of them is cancelled, it is.
///
/// Checks are added before it is waited for; later ones are not asked.
public final class DataRequest: ValidatedRequest {
    /// The request, with the session's header fields; adapters are asked later.
    public let request: OutgoingRequest

    private let checks: Locked<Validator>
    private let exchange: Exchange<Answer>
    /// Nil where there is no body.
    private let upload: UploadWatch?
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
            return await session.send(request, checks.withLock { $0 }, interceptor, watching: upload)
        }
    }

    /// How far it is.
    public var state: RequestState {
        guard exchange.hasBegun else { return .initialized }
        guard let answer = exchange.result else { return .resumed }
        return answer.error?.isExplicitlyCancelledError == true ? .cancelled : .finished
    }

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

    func answer() async -> Answer { await exchange.value() }

    /// Does something after everything that was given before.
    func enqueue(_ work: @escaping @Sendable () async -> Void) {
        lastHandler.withLock { last in
            let before = last
            last = Task {
                await before?.value
                await work()
            }
        }
    }
}

/// Bytes, a file or a form are sent by the same kind of request.
public typealias UploadRequest = DataRequest

/// How far a request is.
public enum RequestState: String, Hashable, Sendable {
    /// Nobody has waited for it.
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
