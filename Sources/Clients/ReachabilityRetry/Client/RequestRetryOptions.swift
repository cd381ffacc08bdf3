import LinuxSupport

/// The settings of retries beside the policy.
///
/// | Setting | Default | Meaning |
/// |---|---|---|
/// | ``adapter`` | none | changes the request before each attempt |
/// | ``retrier`` | none | decides about failures that the policy does not retry, or no more |
/// | ``validate`` | none | decides which responses are failures |
/// | ``redirects`` | 20, or none if the client disallows redirects | which redirects are followed |
/// | ``attemptTimeout`` | none | the maximum time of an attempt; the timeouts of the client apply, too |
/// | ``connectTimeout`` | 10 s | the maximum time of an attempt until something of it is sent |
/// | ``host`` | that of the URL | the host whose reachability and limits count, for example a proxy |
/// | ``priority`` | normal | the order of the requests that wait for the same host |
/// | ``coordinator`` | ``RetryCoordinator/shared`` | the limits and verdicts that all requests share |
/// | ``idempotency`` | the caller's keys, in `Idempotency-Key` | the header field by which a server recognises a repetition |
/// | ``observer`` | none | receives events |
/// | ``tracer`` | none | follows each request and its attempts |
/// | ``clock`` | `ContinuousClock` | measures the deadline and the history |
public struct RequestRetryOptions: Sendable {
    /// Throws an error if a response is a failure. Called if the policy does not retry the status, after redirects.
    public typealias Validation = @Sendable (AnswerHead) async throws -> Void

    /// Changes the request before each attempt at the origin that the request names, and at no other. It always receives the request as the
    /// caller made it. An error that it throws ends the request (``AttemptError/adapterFailed(_:)``). The caller's request decides whether it
    /// may be repeated. An idempotency key belongs there, because it must be the same in each attempt (``idempotency``).
    public var adapter: (any RequestAdapter)?

    /// The retrier of failures that the policy does not retry, or no more: a 401 that ``validate`` refuses, for example. It is asked if
    /// nothing was sent, if the server has answered, or if a repetition does no harm. It may exceed the policy's number of attempts, but
    /// not the deadline.
    public var retrier: (any RequestRetrier)?

    /// Decides which responses are failures. An error that it throws ends the request, unless the retrier has it sent again. If nil, every
    /// response is returned that is not retried.
    public var validate: Validation?

    /// The redirects that are followed. If nil, 20, or none if the configuration of the client disallows them.
    public var redirects: RedirectRule?

    /// The maximum time of an attempt until the response begins; nil for the timeouts of the client. An attempt that ends so may have been
    /// processed, unless it is known that nothing was sent.
    public var attemptTimeout: Duration?

    /// The maximum time of an attempt until something of it is sent: name, connection and TLS together. Nil for the timeouts of the client.
    /// URLSession does not report when a request is sent, so the limit does not apply to it.
    public var connectTimeout: Duration?

    /// The host whose reachability and limits count; nil for the host of the URL.
    public var host: String?

    /// The order of the requests that wait for the same host.
    public var priority: RetryPriority

    /// The limits and verdicts that all requests share.
    public var coordinator: RetryCoordinator

    /// The header field by which a server recognises a repetition.
    public var idempotency: IdempotencyKeys

    /// Receives events.
    public var observer: RetryObserver?

    /// Follows each request and its attempts.
    public var tracer: (any RequestTracer)?

    /// Measures the deadline and the history.
    public var clock: any Clock<Duration>

    /// Whether the rest of a response can be requested, so that a connection need not be waited for after a loss of the path.
    package var resumes: @Sendable () -> Bool = { false }

    /// Settings, each with its default.
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

/// The header field by which a server recognises a repetition. Its value, the key, is the same in each attempt
/// (draft-ietf-httpapi-idempotency-key-header). A request with a key may be repeated, whatever its method.
///
/// | | Which requests have a key |
/// |---|---|
/// | ``given(in:)`` | those that the caller has given one |
/// | ``made(in:)`` | these, and every other whose method is not idempotent: 128 random bits |
public struct IdempotencyKeys: Hashable, Sendable {
    /// The name of the header field.
    public let header: String

    /// Whether a request without a key gets one.
    public let areMade: Bool

    /// The field that servers agree on.
    public static let standardHeader = "Idempotency-Key"

    /// Keys are the caller's.
    ///
    /// - Parameter header: The name of the field: `PayPal-Request-Id`, for example.
    public static func given(in header: String = standardHeader) -> IdempotencyKeys {
        IdempotencyKeys(header: header, areMade: false)
    }

    /// A request whose method is not idempotent (POST, PATCH) gets a key where it has none. Only for servers that honour the field: any
    /// other would do a repeated request twice.
    ///
    /// - Parameter header: The name of the field.
    public static func made(in header: String = standardHeader) -> IdempotencyKeys {
        IdempotencyKeys(header: header, areMade: true)
    }

    /// Whether a request has a key that is not empty.
    package func hasKey(_ request: PlainRequest) -> Bool { request[header].map { !$0.isEmpty } ?? false }

    /// The request with a key, where it is to have one.
    func adding(to request: PlainRequest) -> PlainRequest {
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
/// `RetryingHTTPClient`, `RetryingURLSession` and `Session` have them. `overriding(_:)` of each returns the same client with other settings.
public struct RetrySettings: Sendable {
    /// When a request is sent again.
    public var policy: RetryPolicy

    /// The other settings. The limits of a host are those of the coordinator.
    public var options: RequestRetryOptions

    /// Settings for all requests of a client.
    public init(policy: RetryPolicy = .standard, options: RequestRetryOptions = RequestRetryOptions()) {
        self.policy = policy
        self.options = options
    }

    /// The settings with a change.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetrySettings {
        var settings = self
        try change(&settings)
        return settings
    }
}
