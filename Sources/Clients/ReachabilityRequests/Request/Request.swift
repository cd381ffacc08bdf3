public import Dispatch
public import FoundationEssentials
import LinuxSupport
import ReachabilityRetry
import Synchronization

/// The common part of all requests. A request is one exchange. All tasks that wait for it receive the same result.
///
/// Handlers of a request are called one after the other in the order in which they were added, on their queue.
///
/// Thread-safe. All stored properties of the classes of requests are constants of `Sendable` types. The compiler does not check this for
/// classes that have subclasses.
public class Request: @unchecked Sendable {
    /// The identity of the request.
    public let id = RequestIdentity.next()
    /// The interceptor of this request, which is called before that of the session.
    public let interceptor: (any RequestInterceptor)?

    package let session: Session
    /// The value that creates the request, again for each attempt after a failed one.
    let source: any URLRequestConvertible
    let exchange: Exchange<Answer>
    /// A Boolean value that indicates whether the request has monitors of its own.
    let isWatched = Atomic(false)
    /// Holds the request back while it is suspended.
    let gate = Gate()
    let validator = Locked(Validator())
    let values: Locked<RequestValues>
    /// The request as it was created, or the reason why there is none.
    let created: Result<URLRequest, AFError>

    init(
        _ convertible: any URLRequestConvertible,
        in session: Session,
        _ interceptor: (any RequestInterceptor)?,
        endsWithWork: Bool = false
    ) {
        self.session = session
        self.interceptor = interceptor
        source = convertible
        created = convertible.request()
        var values = RequestValues()
        var failure = AFError.explicitlyCancelled
        switch created {
        case .success(let request): values.requests = [request]
        case .failure(let error): failure = error
        }
        self.values = Locked(values)
        exchange = Exchange(cancelled: Answer(error: failure), endsWithWork: endsWithWork)
    }

    /// Sends the request and receives the answer.
    func run(_ request: URLRequest) async -> Answer { await session.send(request, of: self) }

    /// Releases what only a request in progress needs. Called when the request has ended or was cancelled, possibly more than once.
    func didEnd() {
        let handlers = values.withLock { values in
            values.upload.finish()
            values.download.finish()
            if let answer = exchange.result { didFinish(answer, &values) }
            values.hasEnded = true
            defer { values.endHandlers = [] }
            return values.endHandlers
        }
        for handler in handlers { handler() }
        gate.open()
        session.active.end(self)
    }

    /// Cancels the request: a wait, an attempt or the answer. A request that has ended does not change.
    @discardableResult
    public func cancel() -> Self {
        let isFirst = values.withLock { values in
            defer { values.isCancelled = true }
            return !values.isCancelled
        }
        if isFirst, exchange.result == nil { didCancel() }
        exchange.cancel()
        gate.open()
        if exchange.result != nil { didEnd() }
        return self
    }
}

/// The mutable values of a request.
struct RequestValues: Sendable {
    var isSuspended = false
    var isCancelled = false
    /// A Boolean value that indicates whether the request was adapted at its creation, and is not sent yet.
    var isHeld = false
    /// The request as it was adapted at its creation, until it is sent.
    var prepared: Result<URLRequest, any Error>?
    /// Overrides the setting of the session; nil if it applies.
    var startsAutomatically: Bool?
    /// A Boolean value that indicates whether the current attempt was reported to monitors, and its end was not.
    var isTaskOpen = false
    /// A Boolean value that indicates whether the result was reported to monitors.
    var isFinished = false
    /// The monitors of the session and of the request; nil if the request has none of its own.
    var monitors: MonitorList?
    var hasBegun = false
    var hasEnded = false
    var requests: [URLRequest] = []
    var performed: [URLRequest] = []
    var response: HTTPURLResponse?
    var error: AFError?
    /// The error of an adapter, until the next attempt.
    var adaptationError: AFError?
    var retryCount = 0
    /// The number of retries before the current run.
    var earlierRetries = 0
    /// A Boolean value that indicates whether the retriers refused to retry the last failed attempt.
    var isGivenUp = false
    /// The serializers of the handlers, by their numbers.
    var serializers: [HandlerSerializer] = []
    var upload = ProgressFeed()
    var download = ProgressFeed()
    var credential: URLCredential?
    /// The responder to challenges of the server; nil before the first challenge.
    var responder: ChallengeResponder?
    /// The number of retries that answered a challenge.
    var challenges = 0
    var redirectHandler: (any RedirectHandler)?
    /// The adapters of this request, which are called after those of the session.
    var adapters: [any RequestAdapter] = []
    /// The retriers of this request, which are called after those of the session.
    var retriers: [any RequestRetrier] = []
    /// The failed attempt that the retriers decide about.
    var failure: FailedRequest?
    var createdHandlers: [@Sendable (URLRequest) -> Void] = []
    var taskHandlers: [@Sendable (URLSessionTask) -> Void] = []
    var responseHandlers: [@Sendable (HTTPURLResponse) async -> Void] = []
    var endHandlers: [@Sendable () -> Void] = []
    /// The handler that was added last.
    var lastHandler: Task<Void, Never>?
}

/// The direction of a body.
enum Direction: Sendable { case upload, download }

extension RequestValues {
    var tasks: [URLSessionTask] {
        performed.indices.map { index in
            let isLast = index == performed.count - 1
            return URLSessionTask(
                originalRequest: performed[index],
                currentRequest: performed[index],
                response: isLast ? response : nil,
                state: isLast ? taskState : .completed
            )
        }
    }

    private var taskState: URLSessionTask.State {
        if hasEnded || !isTaskOpen { return .completed }
        return isCancelled ? .canceling : isSuspended ? .suspended : .running
    }

    /// A Boolean value that indicates whether the last attempt has failed. The next one is not part of it.
    var hasFailed: Bool { !isTaskOpen && !performed.isEmpty }

    subscript(direction: Direction) -> ProgressFeed {
        get { direction == .upload ? upload : download }
        _modify { if direction == .upload { yield &upload } else { yield &download } }
    }
}

/// Identities of requests. They are unique, and need no system call for each.
enum RequestIdentity {
    private static let process = UUID()
    private static let count = Locked<UInt64>(0)

    static func next() -> UUID {
        let number = count.withLock { count in
            count += 1
            return count
        }
        var bytes = process.uuid
        let low = number.bigEndian
        (bytes.10, bytes.11) = (UInt8(truncatingIfNeeded: low >> 16), UInt8(truncatingIfNeeded: low >> 24))
        (bytes.12, bytes.13) = (UInt8(truncatingIfNeeded: low >> 32), UInt8(truncatingIfNeeded: low >> 40))
        (bytes.14, bytes.15) = (UInt8(truncatingIfNeeded: low >> 48), UInt8(truncatingIfNeeded: low >> 56))
        return UUID(uuid: bytes)
    }
}

extension Request {
    /// The state of a request.
    public enum State: String, Hashable, Sendable {
        /// The request was not sent yet.
        case initialized
        /// The request is in progress.
        case resumed
        /// The request is suspended until `resume()`.
        case suspended
        /// The request was cancelled.
        case cancelled
        /// The request has an answer or an error.
        case finished
    }

    /// A function that receives the progress of a body.
    public typealias ProgressHandler = @Sendable (_ progress: Progress) -> Void
    /// The result of a validation.
    public typealias ValidationResult = Result<Void, any Error>

    /// The state of the request.
    public var state: State {
        if let answer = exchange.result {
            return answer.error?.isExplicitlyCancelledError == true ? .cancelled : .finished
        }
        let (isCancelled, isSuspended, isHeld, isFinished) = values.withLock { values in
            (values.isCancelled, values.isSuspended, values.isHeld, values.isFinished)
        }
        if isCancelled || exchange.isCancelled { return .cancelled }
        if isFinished { return .finished }
        return isSuspended ? .suspended : exchange.hasBegun && !isHeld ? .resumed : .initialized
    }

    /// A Boolean value that indicates whether the state is ``State/initialized``.
    public var isInitialized: Bool { state == .initialized }
    /// A Boolean value that indicates whether the state is ``State/resumed``.
    public var isResumed: Bool { state == .resumed }
    /// A Boolean value that indicates whether the state is ``State/suspended``.
    public var isSuspended: Bool { state == .suspended }
    /// A Boolean value that indicates whether the state is ``State/cancelled``.
    public var isCancelled: Bool { state == .cancelled }
    /// A Boolean value that indicates whether the state is ``State/finished``.
    public var isFinished: Bool { state == .finished }

    /// The request as it was created, and each version that adapters made of it.
    public var requests: [URLRequest] { values.withLock { $0.requests } }
    /// The request as it was created; nil if that failed.
    public var firstRequest: URLRequest? { values.withLock { $0.requests.first } }
    /// The request as adapters made it last; nil if it could not be created.
    public var lastRequest: URLRequest? { values.withLock { $0.requests.last } }
    /// The request as adapters made it last; nil if it could not be created.
    public var request: URLRequest? { lastRequest }
    /// The request of each attempt.
    public var performedRequests: [URLRequest] { values.withLock { $0.performed } }

    /// The attempts. The last one has the latest answer.
    public var tasks: [URLSessionTask] { values.withLock { $0.tasks } }
    /// The last attempt; nil before the first one.
    public var lastTask: URLSessionTask? { tasks.last }

    /// The head of the latest answer, or nil.
    public var response: HTTPURLResponse? { values.withLock { $0.response } }
    /// The error; nil without one, and before the end. While retriers decide about the error of an adapter, it is that error.
    public var error: AFError? {
        let (own, adaptation) = values.withLock { ($0.error, $0.adaptationError) }
        return own ?? exchange.result.map(\.error) ?? adaptation
    }
    /// The number of retries so far.
    public var retryCount: Int { exchange.result?.metrics.map { retries(in: $0) } ?? values.withLock { $0.retryCount } }

    /// The durations, hops and attempts; nil before the end.
    public var metrics: RequestMetrics? { exchange.result?.metrics }

    /// The progress of the body that is sent. It counts bytes that were written to the connection.
    public var uploadProgress: Progress { values.withLock { $0.upload.progress } }
    /// The progress of the body that is received.
    public var downloadProgress: Progress { values.withLock { $0.download.progress } }

    /// The credential for servers that require authentication, or nil.
    public var credential: URLCredential? { values.withLock { $0.credential } }
    /// The handler of redirects; nil for that of the session.
    public var redirectHandler: (any RedirectHandler)? { values.withLock { $0.redirectHandler } }

    private func retries(in metrics: RequestMetrics) -> Int {
        metrics.retryCount - values.withLock { $0.challenges }
    }
}

extension Request {
    /// Sends the request, or continues it after `suspend()`.
    @discardableResult
    public func resume() -> Self {
        let isContinued = values.withLock { values in
            defer { values.isSuspended = false }
            return values.isSuspended && !values.isCancelled && !values.isHeld
        }
        gate.open()
        if isContinued, exchange.hasBegun, exchange.result == nil { didResume() }
        begin()
        return self
    }

    /// Holds the request back until `resume()`: the next attempt, the rest of a body. A server that sends meanwhile waits.
    ///
    /// The limits of time continue to apply, for example that of the next bytes of a body.
    @discardableResult
    public func suspend() -> Self {
        guard exchange.result == nil else { return self }
        let isFirst = values.withLock { values in
            guard !values.isCancelled, !values.isSuspended else { return false }
            values.isSuspended = true
            gate.shut()
            return true
        }
        if isFirst { didSuspend() }
        return self
    }

    /// Authenticates at servers that require it (401), with Digest (RFC 7616) or Basic (RFC 7617).
    @discardableResult
    public func authenticate(
        username: String,
        password: String,
        persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
    }

    /// Authenticates at servers that require it (401), with Digest (RFC 7616) or Basic (RFC 7617).
    @discardableResult
    public func authenticate(with credential: URLCredential) -> Self {
        values.withLock { $0.credential = credential }
        return self
    }

    /// Sets the handler of redirects, in place of that of the session.
    @discardableResult
    public func redirect(using handler: any RedirectHandler) -> Self {
        values.withLock { $0.redirectHandler = handler }
        return self
    }

    /// Adds an adapter. It is called before every attempt, after the adapters of the session.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self {
        values.withLock { $0.adapters.append(adapter) }
        return self
    }

    /// Adds a retrier. It is called after the retriers of the session.
    @discardableResult
    public func retry(using retrier: any RequestRetrier) -> Self {
        values.withLock { $0.retriers.append(retrier) }
        return self
    }

    /// Adds an adapter and a retrier, see ``adapt(using:)`` and ``retry(using:)``.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        adapt(using: interceptor).retry(using: interceptor)
    }

    /// Calls the closure with the newest progress of the body that is received. It replaces an earlier closure.
    @discardableResult
    public func downloadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        call(.download, on: values.withLock { $0.download.set(closure, on: queue) })
        return self
    }

    /// Calls the closure with the newest progress of the body that is sent. It replaces an earlier closure.
    @discardableResult
    public func uploadProgress(queue: DispatchQueue = .main, closure: @escaping ProgressHandler) -> Self {
        call(.upload, on: values.withLock { $0.upload.set(closure, on: queue) })
        return self
    }

    /// Returns a sequence of the progress of the received body, until the request ends. It does not send the request.
    public func downloadProgress(
        bufferingPolicy: StreamOf<Progress>.Continuation.BufferingPolicy = .bufferingNewest(1)
    ) -> StreamOf<Progress> {
        watch(.download, bufferingPolicy)
    }

    /// Returns a sequence of the progress of the sent body, until the request ends. It does not send the request.
    public func uploadProgress(
        bufferingPolicy: StreamOf<Progress>.Continuation.BufferingPolicy = .bufferingNewest(1)
    ) -> StreamOf<Progress> {
        watch(.upload, bufferingPolicy)
    }

    /// Returns the last request that was created before.
    package func addRequestHandler(_ handler: @escaping @Sendable (URLRequest) -> Void) -> URLRequest? {
        values.withLock { values in
            values.createdHandlers.append(handler)
            return values.requests.last
        }
    }

    /// Returns the last attempt that was made before.
    package func addTaskHandler(_ handler: @escaping @Sendable (URLSessionTask) -> Void) -> URLSessionTask? {
        values.withLock { values in
            values.taskHandlers.append(handler)
            return values.tasks.last
        }
    }

    /// Returns the head of the latest answer if it was received before.
    package func addResponseHandler(_ handler: @escaping @Sendable (HTTPURLResponse) async -> Void) -> HTTPURLResponse?
    {
        values.withLock { values in
            values.responseHandlers.append(handler)
            return values.response
        }
    }

    private func watch(
        _ feed: Direction,
        _ policy: StreamOf<Progress>.Continuation.BufferingPolicy
    ) -> StreamOf<Progress> {
        let (stream, watcher) = AsyncStream.makeStream(of: Progress.self, bufferingPolicy: policy)
        values.withLock { $0[feed].watch(watcher) }
        return stream
    }

    /// Changes the progress of a direction.
    func change(_ feed: Direction, _ change: (inout Progress) -> Void) {
        call(feed, on: values.withLock { $0[feed].change(change) })
    }

    private func call(_ feed: Direction, on queue: DispatchQueue?) {
        queue?.async { [self] in
            if let (handler, progress) = values.withLock({ $0[feed].takeCall() }) { handler(progress) }
        }
    }
}

extension Request: Hashable {
    /// Returns whether both are the same request.
    public static func == (one: Request, other: Request) -> Bool { one === other }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
