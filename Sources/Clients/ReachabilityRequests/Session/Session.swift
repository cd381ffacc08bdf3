public import Dispatch
package import LinuxSupport
public import ReachabilityHTTP
@_exported public import ReachabilityRetry
public import ServerTrust
import ServerTrustAsyncHTTPClient
import ServerTrustNIO
import Synchronization

/// Creates requests that share a client, settings of retries, interceptors and header fields.
///
/// ```swift
/// let user = try await session.request("https://example.org/users/1").validate().serializingDecodable(User.self).value
/// ```
///
/// Thread-safe. The caller shuts down a client that it passes.
public final class Session: Sendable {
    /// The HTTP client. Its settings are those of the session. The `validate` of its options runs before the validations of a request.
    public let client: RetryingHTTPClient
    /// The interceptor that is called before every attempt, and after failures that the policy does not retry, or no longer.
    public let interceptor: (any RequestInterceptor)?
    /// The header fields that each request has, unless it has its own of that name.
    public let headers: HTTPHeaders
    /// The maximum sizes of bodies in memory.
    public let limits: ResponseLimits
    /// The evaluators of servers; nil if the client decides. The session then has connections of its own, which are closed with it.
    public let serverTrustManager: ServerTrustManager?
    /// The time at which a request is adapted.
    public let requestSetup: RequestSetup
    /// The handler of redirects; nil if all are followed that `settings` permits.
    public let redirectHandler: (any RedirectHandler)?
    /// The storage of the cookies that the session sends and keeps; nil for a session without cookies.
    public let cookieStorage: HTTPCookieStorage?

    /// The adapter and the retrier that are set later, see `SessionManager` of ReachabilityAlamofire.
    package let laterInterceptor: Locked<Interceptor?>

    private let startsImmediately: Atomic<Bool>
    private let ownClient: OwnClient?
    let monitors: MonitorList
    let active: ActiveRequests

    /// Creates a session that follows the reachability that the kernel reports. Without a policy a request waits at most 30 seconds while
    /// this machine has no path, and is sent once.
    ///
    /// - Parameters:
    ///   - client: The HTTP client. Its own settings are not used.
    ///   - policy: When requests are sent again.
    ///   - settings: When and how requests are sent again, in place of `policy`.
    ///   - headers: The header fields that each request has, unless it has its own of that name.
    ///   - limits: The maximum sizes of bodies in memory.
    ///   - startRequestsImmediately: True if a request is sent by its first handler, and at most 50 ms after its creation without one.
    ///   - requestSetup: When a request is adapted.
    ///   - interceptor: The interceptor that is called before every attempt, and after failures that the policy does not retry.
    ///   - serverTrustManager: The evaluators of servers. If it is not nil, the session has connections of its own, with the configuration
    ///     of `client`.
    ///   - redirectHandler: The handler of redirects.
    ///   - cookieStorage: The cookies; nil if none are sent and kept.
    ///   - eventMonitors: Receive events.
    public init(
        client: RetryingHTTPClient = .shared,
        retry policy: RetryPolicy = .singleAttempt,
        settings: RetrySettings? = nil,
        headers: HTTPHeaders = .default,
        limits: ResponseLimits = ResponseLimits(),
        startRequestsImmediately: Bool = true,
        requestSetup: RequestSetup = .lazy,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cookieStorage: HTTPCookieStorage? = HTTPCookieStorage(),
        eventMonitors: [any EventMonitor] = []
    ) {
        self.serverTrustManager = serverTrustManager
        ownClient = serverTrustManager.map { OwnClient(client, evaluating: $0) }
        self.client = (ownClient?.client ?? client).overriding { $0 = settings ?? RetrySettings(policy: policy) }
        self.headers = headers
        self.limits = limits
        startsImmediately = Atomic(startRequestsImmediately)
        self.requestSetup = requestSetup
        self.interceptor = interceptor
        self.redirectHandler = redirectHandler
        laterInterceptor = Locked(nil)
        self.cookieStorage = cookieStorage
        monitors = MonitorList(eventMonitors)
        active = ActiveRequests()
    }

    /// Creates a copy of a session with other settings of retries.
    ///
    /// - Parameter active: The requests of the copy; nil for those of the other session.
    init(_ other: Session, _ settings: RetrySettings, _ active: ActiveRequests? = nil) {
        client = other.client.overriding { $0 = settings }
        ownClient = other.ownClient
        serverTrustManager = other.serverTrustManager
        headers = other.headers
        limits = other.limits
        startsImmediately = Atomic(other.startRequestsImmediately)
        requestSetup = other.requestSetup
        interceptor = other.interceptor
        redirectHandler = other.redirectHandler
        laterInterceptor = other.laterInterceptor
        cookieStorage = other.cookieStorage
        monitors = other.monitors
        self.active = active ?? other.active
    }
}

/// A client whose servers are evaluated by a manager. Its connections are closed when no session uses it.
private final class OwnClient: Sendable {
    /// Shared, because it remembers the status of certificates. Nil if there are no settings of TLS for it.
    private static let revocation = (try? HTTPRevocationFetcher()).map { RevocationChecker(fetcher: $0) }

    let client: RetryingHTTPClient

    init(_ client: RetryingHTTPClient, evaluating manager: ServerTrustManager) {
        var enforcement = ServerTrustEnforcement()
        // The evaluators decide about everything, as in Alamofire, and about nothing without TLS.
        enforcement.handshakeVerification = .managerAlone
        enforcement.allowsPlainHTTP = true
        enforcement.configuration.revocation = Self.revocation
        self.client = client.reconfigured { [enforcement] in $0.enforcing(manager, enforcement) }
    }

    deinit {
        Task { [client] in try? await client.shutdown() }
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The session of the process, with default settings.
public let AF = Session.default

extension Session {
    /// The session of the process, with default settings and the cookies of ``HTTPCookieStorage/shared``.
    public static let `default` = Session(cookieStorage: .shared)

    /// The time at which a request is adapted first.
    public enum RequestSetup: Hashable, Sendable {
        /// The request is adapted when it is created, and sent later (``Session/startRequestsImmediately``). An error of an adapter
        /// ends a request that was not sent.
        case eager
        /// The request is adapted when it is sent.
        case lazy
    }

    /// A Boolean value that indicates whether a request is sent by its first handler, and at most 50 ms after its creation without one. If
    /// false, it is sent by `resume()`, or when its result is first awaited. A change applies to later requests.
    public var startRequestsImmediately: Bool {
        get { startsImmediately.load(ordering: .relaxed) }
        set { startsImmediately.store(newValue, ordering: .relaxed) }
    }

    /// The settings of retries.
    public var settings: RetrySettings { client.settings }

    /// The policy of retries.
    public var policy: RetryPolicy { settings.policy }

    /// The other settings of retries.
    public var options: RequestRetryOptions { settings.options }

    /// Returns the same session, client and monitors, with other settings of retries, for one request or for many.
    ///
    /// ```swift
    /// session.overriding { $0.options.priority = .high }.request("https://example.org/now")
    /// ```
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> Session {
        Session(self, try settings.overriding(change))
    }

    /// Calls a closure with the requests that were sent, were adapted, or will be sent without `resume()`, and have not ended.
    public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
        action(active.all)
    }

    /// Cancels the requests of ``withAllRequests(perform:)``.
    ///
    /// - Parameters:
    ///   - queue: The queue of the closure.
    ///   - completion: Called when all have been cancelled.
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue = .main,
        completion: (@Sendable () -> Void)? = nil
    ) {
        withAllRequests { requests in
            for request in requests { request.cancel() }
            if let completion { queue.async(execute: completion) }
        }
    }
}

/// The maximum sizes of bodies in memory.
public struct ResponseLimits: Hashable, Sendable {
    /// The maximum length of a body, in bytes. A longer one is an error, before its first byte is read if Content-Length announces it.
    public var body: Int
    /// The maximum length of the kept part of a rejected body, in bytes. The rest is not read.
    public var refusedBody: Int

    /// Limits, by default 16 MiB, and 64 KiB of a rejected body.
    public init(body: Int = 16 << 20, refusedBody: Int = 64 << 10) {
        self.body = max(0, body)
        self.refusedBody = max(0, refusedBody)
    }
}
