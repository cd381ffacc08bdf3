import LinuxSupport

/// The options of retries, in addition to the policy.
///
/// | Option | Default | Meaning |
/// |---|---|---|
/// | ``adapter`` | none | changes the request before each attempt |
/// | ``retrier`` | none | decides about failures that the policy does not retry, or no longer retries |
/// | ``validate`` | none | decides which responses are failures |
/// | ``redirects`` | 20, or none if the client disallows redirects | the rules for redirects |
/// | ``attemptTimeout`` | none | the maximum time of an attempt; the timeouts of the client also apply |
/// | ``connectTimeout`` | 10 s | the maximum time of an attempt until a part of it is sent |
/// | ``host`` | the host of the URL | the host whose reachability and limits apply, for example a proxy |
/// | ``priority`` | normal | the order of the requests that wait for the same host |
/// | ``coordinator`` | ``RetryCoordinator/shared`` | the limits and reachability that all requests share |
/// | ``idempotency`` | the caller's keys, in `Idempotency-Key` | the header field by which a server recognises a repeated request |
/// | ``observer`` | none | receives events |
/// | ``tracer`` | none | traces each request and its attempts |
/// | ``clock`` | `ContinuousClock` | measures the deadline and the times of the history |
public struct RequestRetryOptions: Sendable {
    /// Throws an error if a response is a failure. Called for each response except a redirect that is followed. If the
    /// policy retries the status, the retry is made anyway, but the last such response is thrown as a ``StatusFailure``
    /// and not returned.
    public typealias Validation = @Sendable (ResponseHead) async throws -> Void

    /// Changes the request before each attempt at the origin that the request names, and at no other origin. It always
    /// receives the original request. An error that it throws ends the request (``AttemptError/adapterFailed(_:)``),
    /// unless the retrier retries it. The original request determines whether it may be repeated. An idempotency key belongs into the original
    /// request, because it must be the same in each attempt (``idempotency``).
    public var adapter: (any RequestAdapter)?

    /// Decides about failures that the policy does not retry, or no longer retries, for example a 401 that ``validate``
    /// refuses. It is called if nothing was sent, if the server has responded, or if the request may be repeated. It
    /// may exceed the policy's number of attempts, but not the deadline.
    public var retrier: (any RequestRetrier)?

    /// Decides which responses are failures. An error that it throws ends the request, unless the retrier retries it.
    /// If nil, every response that is not retried is returned.
    public var validate: Validation?

    /// The rules for redirects. If nil, at most 20 are followed, or none if the configuration of the client disallows
    /// them.
    public var redirects: RedirectRule?

    /// The maximum time of an attempt until the response begins. If nil, the timeouts of the client apply. An attempt
    /// that ends by this timeout may have been processed, unless it is known that nothing was sent.
    public var attemptTimeout: Duration?

    /// The maximum time of an attempt until a part of it is sent. It includes name resolution, connection and TLS. If
    /// nil, the timeouts of the client apply. The option has no effect for URLSession, which does not report when a
    /// request is sent.
    public var connectTimeout: Duration?

    /// The host whose reachability and limits apply. If nil, the host of the URL.
    public var host: String?

    /// The order of the requests that wait for the same host.
    public var priority: RetryPriority

    /// The limits and reachability that all requests share.
    public var coordinator: RetryCoordinator

    /// The header field by which a server recognises a repeated request.
    public var idempotency: IdempotencyKeys

    /// Receives the events of the request.
    public var observer: RetryObserver?

    /// Traces each request and its attempts.
    public var tracer: (any RequestTracer)?

    /// Measures the deadline and the times of the history.
    public var clock: any Clock<Duration>

    /// A Boolean value that indicates whether the rest of a response can be requested. Then a connection need not be
    /// waited for after an interruption of the path.
    package var resumes: @Sendable () -> Bool = { false }

    /// Changes the request of a redirect that is followed. If it returns nil, the redirect is the response.
    package var redirecting: (@Sendable (RequestHead) async -> RequestHead?)?

    /// The cookies of each attempt, at any origin. Nil if none are sent and kept.
    package var cookies: (any CookieStorage)?

    /// Creates options. The table of the type lists the defaults.
    public init(
        adapter: (any RequestAdapter)? = nil,
        retrier: (any RequestRetrier)? = nil,
        validate: Validation? = nil,
        redirects: RedirectRule? = nil,
        attemptTimeout: Duration? = nil,
        connectTimeout: Duration? = .seconds(10),
        host: String? = nil,
        priority: RetryPriority = .normal,
        coordinator: RetryCoordinator = .shared,
        idempotency: IdempotencyKeys = .given(),
        observer: RetryObserver? = nil,
        tracer: (any RequestTracer)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.adapter = adapter
        self.retrier = retrier
        self.validate = validate
        self.redirects = redirects
        self.attemptTimeout = attemptTimeout
        self.connectTimeout = connectTimeout
        self.host = host
        self.priority = priority
        self.coordinator = coordinator
        self.idempotency = idempotency
        self.observer = observer
        self.tracer = tracer
        self.clock = clock
    }
}

/// A storage of cookies.
package protocol CookieStorage: AnyObject, Sendable {
    /// Returns the value of the field Cookie of a request. Nil if it has no cookies.
    func field(for url: String) -> String?

    /// Keeps the cookies of the fields Set-Cookie of a response.
    func keep(_ fields: [String], from url: String)
}

/// The header field by which a server recognises a repeated request. Its value, the key, is the same in each attempt
/// (draft-ietf-httpapi-idempotency-key-header). A request with a key may be repeated, whatever its method.
///
/// | Keys | Requests that have a key |
/// |---|---|
/// | ``given(in:)`` | Requests with a key from the caller. |
/// | ``made(in:)`` | These, and every other request whose method is not idempotent. Its key is 128 random bits. |
public struct IdempotencyKeys: Hashable, Sendable {
    /// The name of the header field.
    public let header: String

    /// A Boolean value that indicates whether a key is created for requests without one.
    public let areMade: Bool

    /// The standard name of the header field.
    public static let standardHeader = "Idempotency-Key"

    /// Uses only the keys that the caller sets.
    ///
    /// - Parameter header: The name of the field, for example `PayPal-Request-Id`.
    public static func given(in header: String = standardHeader) -> IdempotencyKeys {
        IdempotencyKeys(header: header, areMade: false)
    }

    /// Creates a key for each request without one whose method is not idempotent (POST, PATCH). Use it only with
    /// servers that support the field. Any other server would execute a repeated request twice.
    ///
    /// - Parameter header: The name of the field.
    public static func made(in header: String = standardHeader) -> IdempotencyKeys {
        IdempotencyKeys(header: header, areMade: true)
    }

    /// Returns whether a request has a key that is not empty.
    package func hasKey(_ request: RequestHead) -> Bool { request[header].map { !$0.isEmpty } ?? false }

    /// Returns the request, with a new key if one must be created.
    func adding(to request: RequestHead) -> RequestHead {
        guard areMade, !request.method.isIdempotent, !hasKey(request) else { return request }
        var request = request
        request[header] = UInt128.random(in: .min ... .max).hexadecimal
        return request
    }
}

/// The retry policy and options of all requests of a client.
///
/// ```swift
/// var settings = RetrySettings(policy: try RetryPolicy(deadline: .seconds(30)))
/// settings.options.idempotency = .made()
/// settings.options.observer = logger.retryObserver
/// let client = RetryingHTTPClient(settings: settings)
/// let urgent = client.overriding { $0.options.priority = .high }
/// ```
///
/// `RetryingHTTPClient`, `RetryingURLSession` and `Session` have such settings. `overriding(_:)` of each returns a copy
/// with other settings.
public struct RetrySettings: Sendable {
    /// The rules for retries.
    public var policy: RetryPolicy

    /// The other options. Their coordinator has the limits of each host.
    public var options: RequestRetryOptions

    /// Creates settings.
    public init(policy: RetryPolicy = .standard, options: RequestRetryOptions = RequestRetryOptions()) {
        self.policy = policy
        self.options = options
    }

    /// Returns a copy with a change.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetrySettings {
        var settings = self
        try change(&settings)
        return settings
    }
}
