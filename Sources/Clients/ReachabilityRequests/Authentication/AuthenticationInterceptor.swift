import LinuxSupport
import ReachabilityRetry

/// Adds a credential to every request. It refreshes the credential once for all waiting requests, if it requires that before a request is
/// sent, or if it was rejected.
///
/// A refresh continues if the request that began it is cancelled.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
    /// The type of the credential.
    public typealias Credential = AuthenticatorType.Credential

    /// The maximum number of refreshes within an interval, so that a server that rejects every credential receives no endless requests.
    public struct RefreshWindow: Hashable, Sendable {
        /// The time, in seconds.
        public let interval: Double
        /// The maximum number of refreshes.
        public let maximumAttempts: Int

        /// Creates a window, by default of five refreshes in 30 seconds.
        public init(interval: Double = 30, maximumAttempts: Int = 5) {
            self.interval = interval
            self.maximumAttempts = maximumAttempts
        }
    }

    private let authenticator: AuthenticatorType
    private let refreshWindow: RefreshWindow?
    private let timeline: Timeline
    private let state: Locked<RefreshState<Credential>>

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Adds credentials to requests, and refreshes them.
    ///   - credential: The first credential; nil if it is set later.
    ///   - refreshWindow: The maximum number of refreshes; nil for no limit.
    ///   - clock: Measures the window.
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

    /// The credential of the next requests.
    public var credential: Credential? {
        get { state.withLock { $0.credential } }
        set { state.withLock { $0.set(newValue) } }
    }

    /// Adds the credential, which is refreshed first if it requires that.
    public func adapt(_ urlRequest: URLRequest, for session: Session, completion: @escaping AdaptCompletion) {
        adapt(urlRequest, for: session, isRefreshed: false, completion: completion)
    }

    /// Adds the credential. After a refresh and without a window, the credential is used even if it requires another refresh.
    private func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        isRefreshed: Bool,
        completion: @escaping AdaptCompletion
    ) {
        let again: RefreshState<Credential>.Waiting = { [self] result in
            switch result {
            case .success: adapt(urlRequest, for: session, isRefreshed: true, completion: completion)
            case .failure(let error): completion(.failure(error))
            }
        }
        // Outside the lock, because the credential is code of the caller.
        let (credential, version) = state.withLock { ($0.credential, $0.version) }
        let isOld = !(isRefreshed && refreshWindow == nil) && credential?.requiresRefresh == true
        switch state.withLock({ $0.adapt(isOld: isOld, in: version, again) }) {
        case .wait: break
        case .refresh(let credential, let number): refresh(credential, number, for: session)
        case .checkAgain: adapt(urlRequest, for: session, isRefreshed: isRefreshed, completion: completion)
        case .use(let credential):
            var request = urlRequest
            authenticator.apply(credential, to: &request)
            completion(.success(request))
        case .missing: completion(.failure(AuthenticationError.missingCredential))
        }
    }

    /// Retries with another credential if the credential was rejected.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping RetryCompletion
    ) {
        guard let sent = request.request, let response = request.response,
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
    /// The time, of at most a day, so that it does not overflow; zero if it is not a number.
    fileprivate var duration: Duration { interval > 0 ? .seconds(min(interval, 86_400)) : .zero }
}

/// A credential, for example a token.
public protocol AuthenticationCredential: Sendable {
    /// A Boolean value that indicates whether the credential must be refreshed before the next request, for example because it expires
    /// soon.
    var requiresRefresh: Bool { get }
}

/// Adds credentials to requests, recognizes rejected ones, and refreshes them. It is called on any thread.
public protocol Authenticator: AnyObject, Sendable {
    /// The type of the credential.
    associatedtype Credential: AuthenticationCredential

    /// Adds the credential to a request.
    func apply(_ credential: Credential, to urlRequest: inout URLRequest)

    /// Calls `completion` with another credential or with an error. Later calls are ignored. All requests that need the credential wait,
    /// each until its deadline.
    func refresh(
        _ credential: Credential,
        for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    )

    /// Returns whether the request was rejected because of its credential, for example with the status 401.
    func didRequest(
        _ urlRequest: URLRequest,
        with response: HTTPURLResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Returns whether the request was sent with this credential. Otherwise it is sent again without a refresh.
    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool
}

/// The reason why there is no credential.
public enum AuthenticationError: Error, Hashable, Sendable {
    /// No credential was set.
    case missingCredential
    /// The maximum number of refreshes was reached, see ``AuthenticationInterceptor/RefreshWindow``.
    case excessiveRefresh
}

extension AuthenticationError: CustomStringConvertible {
    /// The reason, and a hint.
    public var description: String {
        switch self {
        case .missingCredential: "there is no credential; set AuthenticationInterceptor.credential"
        case .excessiveRefresh: "the credential was refreshed too often; the server seems to reject each new one"
        }
    }
}

/// The credential, and the requests that wait for another one. Its functions return the next step.
struct RefreshState<Credential: AuthenticationCredential>: Sendable {
    /// A function that is called at the end of a refresh.
    typealias Waiting = @Sendable (Result<Void, any Error>) -> Void

    /// The next step of a request.
    enum Step {
        /// The request waits for the end of the refresh in progress.
        case wait
        /// The request waits, and the caller starts this refresh.
        case refresh(Credential, number: Int)
        /// The credential has changed, so the request checks it again.
        case checkAgain
        case use(Credential)
        case missing
    }

    private(set) var credential: Credential?
    /// The number of changes of the credential.
    private(set) var version = 0
    /// The number of the refresh in progress, or nil.
    private var underWay: Int?
    private var refreshes = 0
    /// The times of the refreshes within the window.
    private var times: [Duration] = []
    private var waiting: [Waiting] = []

    init(credential: Credential?) { self.credential = credential }

    mutating func set(_ credential: Credential?) {
        self.credential = credential
        version += 1
    }

    /// Returns the step before a request is sent. If it waits for a refresh, `again` is called afterwards.
    ///
    /// - Parameter isOld: True if the credential of that version requires a refresh.
    mutating func adapt(isOld: Bool, in version: Int, _ again: @escaping Waiting) -> Step {
        if underWay != nil {
            waiting.append(again)
            return .wait
        }
        guard self.version == version else { return .checkAgain }
        guard let credential else { return .missing }
        return isOld ? begin(credential, again) : .use(credential)
    }

    /// Records that a request with the credential of this version was rejected.
    mutating func retry(in version: Int, _ again: @escaping Waiting) -> Step {
        guard self.version == version, let credential else { return .checkAgain }
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

    /// Returns whether another refresh may begin, and counts it.
    mutating func mayRefresh(at now: Duration, _ limit: Int?, in window: Duration?) -> Bool {
        guard let limit, let window else { return true }
        times.removeAll { $0 <= now - window }
        guard times.count < limit else { return false }
        times.append(now)
        return true
    }

    /// Receives the result of a refresh, and returns the waiting requests. Further results of the same refresh are ignored.
    mutating func finish(_ number: Int, _ result: Result<Credential, any Error>) -> [Waiting] {
        guard underWay == number else { return [] }
        underWay = nil
        if case .success(let credential) = result { set(credential) }
        defer { waiting = [] }
        return waiting
    }
}
