import LinuxSupport
public import ReachabilityRetry

/// Puts a credential into every request, and has it refreshed once for all requests that need a new one: before they are sent, where
/// the credential says so, and after they were refused because of it. The class and its uses are Alamofire 5's.
///
/// A refresh goes on when the request that began it is cancelled.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: SessionInterceptor {
    /// The kind of credential.
    public typealias Credential = AuthenticatorType.Credential

    /// How many refreshes may be made in which time, so that a server that refuses every credential is left alone.
    public struct RefreshWindow: Hashable, Sendable {
        /// The time in seconds.
        public let interval: Double
        /// How many.
        public let maximumAttempts: Int

        /// Five in half a minute, unless told otherwise.
        public init(interval: Double = 30, maximumAttempts: Int = 5) {
            self.interval = interval
            self.maximumAttempts = maximumAttempts
        }
    }

    private let authenticator: AuthenticatorType
    private let refreshWindow: RefreshWindow?
    private let timeline: Timeline
    private let state: Locked<RefreshState<Credential>>

    /// An interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: What puts credentials into requests and fetches them.
    ///   - credential: The first; nil where it is set later.
    ///   - refreshWindow: How often it may be refreshed; nil for any number.
    ///   - clock: What measures that.
    public init(
        authenticator: AuthenticatorType,
        credential: Credential? = nil,
        refreshWindow: RefreshWindow? = RefreshWindow(),
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.authenticator = authenticator
        self.refreshWindow = refreshWindow
        timeline = Timeline(clock)
        state = Locked(RefreshState(credential: credential))
    }

    /// What requests are sent with from now on.
    public var credential: Credential? {
        get { state.withLock { $0.credential } }
        set { state.withLock { $0.set(newValue) } }
    }

    /// The request with the credential, which may have to be fetched before.
    public func adapt(
        _ urlRequest: PlainRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: session, isRefreshed: false, completion: completion)
    }

    /// - Parameter isRefreshed: Whether it waited for a refresh. Where nothing else bounds their number, a refreshed credential is used,
    ///   even if it wants to be refreshed.
    private func adapt(
        _ urlRequest: PlainRequest,
        for session: Session,
        isRefreshed: Bool,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        let again: RefreshState<Credential>.Waiting = { [self] result in
            switch result {
            case .success: adapt(urlRequest, for: session, isRefreshed: true, completion: completion)
            case .failure(let error): completion(.failure(error))
            }
        }
        // The credential is asked outside the lock, for it is the caller's code.
        let (credential, version) = state.withLock { ($0.credential, $0.version) }
        let isOld = !(isRefreshed && refreshWindow == nil) && credential?.requiresRefresh == true
        switch state.withLock({ $0.adapt(isOld: isOld, in: version, again) }) {
        case .wait: break
        case .refresh(let credential, let number): refresh(credential, number, for: session)
        case .lookAgain: adapt(urlRequest, for: session, isRefreshed: isRefreshed, completion: completion)
        case .use(let credential):
            var request = urlRequest
            authenticator.apply(credential, to: &request)
            completion(.success(request))
        case .missing: completion(.failure(AuthenticationError.missingCredential))
        }
    }

    /// A retry with another credential, where it was the credential.
    public func retry(
        _ request: FailedRequest,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let sent = request.request
        guard let response = request.response,
            authenticator.didRequest(sent, with: response, failDueToAuthenticationError: error)
        else { return completion(.doNotRetry) }
        let (credential, version) = state.withLock { ($0.credential, $0.version) }
        guard let credential else { return completion(.doNotRetryWithError(AuthenticationError.missingCredential)) }
        guard authenticator.isRequest(sent, authenticatedWith: credential) else { return completion(.retry) }
        let step = state.withLock {
            $0.retry(in: version) { result in
                switch result {
                case .success: completion(.retry)
                case .failure(let error): completion(.doNotRetryWithError(error))
                }
            }
        }
        switch step {
        case .wait: break
        case .refresh(let credential, let number): refresh(credential, number, for: session)
        default: completion(.retry)
        }
    }

    private func refresh(_ credential: Credential, _ number: Int, for session: Session) {
        let now = timeline.now
        guard state.withLock({ $0.mayRefresh(at: now, refreshWindow?.maximumAttempts, in: refreshWindow?.duration) })
        else { return finish(number, .failure(AuthenticationError.excessiveRefresh)) }
        authenticator.refresh(credential, for: session) { [self] result in finish(number, result) }
    }

    private func finish(_ number: Int, _ result: Result<Credential, any Error>) {
        for waiting in state.withLock({ $0.finish(number, result) }) { waiting(result.map { _ in }) }
    }
}

extension AuthenticationInterceptor.RefreshWindow {
    /// A window of a day is as good as one for ever, and does not overflow; one that is no number is none.
    fileprivate var duration: Duration { interval > 0 ? .seconds(min(interval, 86_400)) : .zero }
}

/// What lets requests in, such as a token. The protocol and its uses are Alamofire 5's.
public protocol AuthenticationCredential: Sendable {
    /// Whether it is to be replaced before the next request is sent with it, because it will expire soon, for example.
    var requiresRefresh: Bool { get }
}

/// Puts credentials into requests, knows whether a request was refused because of them, and fetches new ones. It is asked from any thread.
public protocol Authenticator: AnyObject, Sendable {
    /// The kind of credential.
    associatedtype Credential: AuthenticationCredential

    /// Puts the credential into a request.
    func apply(_ credential: Credential, to urlRequest: inout PlainRequest)

    /// Fetches another credential, and calls `completion` with it or with an error; only the first call counts. All requests that need it
    /// wait for this call, each until its deadline.
    func refresh(
        _ credential: Credential,
        for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    )

    /// Whether the request was refused because of its credential: by a status of 401, for example.
    func didRequest(
        _ urlRequest: PlainRequest,
        with response: ResponseHead,
        failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Whether the request was sent with this credential. One that was sent with another is sent again, and nothing is fetched.
    func isRequest(_ urlRequest: PlainRequest, authenticatedWith credential: Credential) -> Bool
}

/// Why there is no credential.
public enum AuthenticationError: Error, Hashable, Sendable {
    /// There was none to begin with.
    case missingCredential
    /// It has been refreshed too often in the window of time, see ``AuthenticationInterceptor/RefreshWindow``.
    case excessiveRefresh
}

extension AuthenticationError: CustomStringConvertible {
    /// What was wrong, and what to do.
    public var description: String {
        switch self {
        case .missingCredential: "there is no credential; set AuthenticationInterceptor.credential"
        case .excessiveRefresh: "the credential was refreshed too often; the server seems to refuse each new one"
        }
    }
}

/// The credential, and who waits for another. A value without locks and calls: what is to be done is what its functions return.
struct RefreshState<Credential: AuthenticationCredential>: Sendable {
    /// Called when the refresh has ended.
    typealias Waiting = @Sendable (Result<Void, any Error>) -> Void

    /// What is to be done about a request.
    enum Step {
        /// It is called when the refresh under way has ended.
        case wait
        /// The same, and this refresh is to be made.
        case refresh(Credential, number: Int)
        /// The credential has changed meanwhile.
        case lookAgain
        case use(Credential)
        case missing
    }

    private(set) var credential: Credential?
    /// Changes with the credential.
    private(set) var version = 0
    /// Which refresh is under way; nil for none.
    private var underWay: Int?
    private var refreshes = 0
    /// When refreshes were made, as long as they count.
    private var times: [Duration] = []
    private var waiting: [Waiting] = []

    init(credential: Credential?) { self.credential = credential }

    mutating func set(_ credential: Credential?) {
        self.credential = credential
        version += 1
    }

    /// - Parameters:
    ///   - isOld: Whether the credential of that version wants to be refreshed.
    ///   - again: Called after a refresh.
    mutating func adapt(isOld: Bool, in version: Int, _ again: @escaping Waiting) -> Step {
        if underWay != nil {
            waiting.append(again)
            return .wait
        }
        guard self.version == version else { return .lookAgain }
        guard let credential else { return .missing }
        return isOld ? begin(credential, again) : .use(credential)
    }

    /// After a request with the credential of that version was refused.
    mutating func retry(in version: Int, _ again: @escaping Waiting) -> Step {
        guard self.version == version, let credential else { return .lookAgain }
        guard underWay == nil else {
            waiting.append(again)
            return .wait
        }
        return begin(credential, again)
    }

    private mutating func begin(_ credential: Credential, _ again: @escaping Waiting) -> Step {
        waiting.append(again)
        refreshes += 1
        underWay = refreshes
        return .refresh(credential, number: refreshes)
    }

    /// Whether another refresh may be made, which then counts.
    mutating func mayRefresh(at now: Duration, _ limit: Int?, in window: Duration?) -> Bool {
        guard let limit, let window else { return true }
        times.removeAll { $0 <= now - window }
        guard times.count < limit else { return false }
        times.append(now)
        return true
    }

    /// Takes what a refresh has brought, and returns who is to be told. Only the first end of a refresh counts.
    mutating func finish(_ number: Int, _ result: Result<Credential, any Error>) -> [Waiting] {
        guard underWay == number else { return [] }
        underWay = nil
        if case .success(let credential) = result { set(credential) }
        defer { waiting = [] }
        return waiting
    }
}
