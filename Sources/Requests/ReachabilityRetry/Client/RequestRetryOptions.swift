/// How the requests of an HTTP client are retried, beside the policy. Every setting has a default, but the coordinator only
/// with the trait `Netlink`: without it, it has to be given.
///
/// | Setting | Default | Meaning |
/// |---|---|---|
/// | ``adapter`` | none | changes the request before each attempt |
/// | ``retrier`` | none | is asked about failures that the policy does not retry, or no more |
/// | ``validate`` | none | says which answers are failures |
/// | ``redirects`` | 20, unless the client is told not to follow any | which redirects are followed |
/// | ``attemptTimeout`` | none | how long one attempt may take; the client's own timeouts hold besides |
/// | ``connectTimeout`` | 10 s | how long one attempt may take until something of it is sent |
/// | ``host`` | that of the URL | whose reachability is waited for, and whose limits hold: that of a proxy, for example |
/// | ``priority`` | normal | who goes first among those that wait for the same host |
/// | ``coordinator`` | ``RetryCoordinator/shared`` | what is shared with other requests |
/// | ``idempotency`` | the caller's keys, in `Idempotency-Key` | by what a server knows a repetition |
/// | ``observer`` | none | is told what happens |
/// | ``tracer`` | none | follows each request and its attempts |
/// | ``clock`` | `ContinuousClock` | what measures the deadline and the history |
public struct RequestRetryOptions: Sendable {
    /// Throws what is wrong with an answer. It is asked when the policy does not retry the status, and redirects were followed.
    public typealias Validation = @Sendable (AnswerHead) async throws -> Void

    /// Changes the request before each attempt at the origin it names, and at no other. It is always given the request as the caller made
    /// it. An error of its own ends the
    /// request (``AttemptError/adapterFailed(_:)``). Whether the request may be repeated is told by the request as the caller made it: an
    /// idempotency key belongs there, for it has to be the same in each attempt (``idempotency``).
    public var adapter: (any RequestAdapter)?

    /// The retrier of failures that the policy does not retry, or no more: a 401 that ``validate`` refuses, for example. It is asked if
    /// nothing was sent, if the server has answered, or if a repetition does no harm. It may exceed the policy's number of attempts, but
    /// not the deadline.
    public var retrier: (any RequestRetrier)?

    /// Says which answers are failures: what it throws ends the request, unless the retrier wants it sent again. Without it every answer
    /// is returned that is not retried.
    public var validate: Validation?

    /// Which redirects are followed. Nil for 20, or none where the client itself is told to follow none.
    public var redirects: RedirectRule?

    /// How long one attempt may take until the answer begins; nil leaves it to the client's own timeouts. Unless it is known that
    /// nothing was sent, an attempt that ends so may have been processed.
    public var attemptTimeout: Duration?

    /// How long one attempt may take until something of it is sent: the name, the connection and TLS together, and all tries a client
    /// makes by itself. Nil leaves it to the client. Clients that cannot tell when a request is sent are not held to it.
    public var connectTimeout: Duration?

    /// Whose reachability is waited for, and whose limits hold; nil for the host of the URL.
    public var host: String?

    /// Who goes first among those that wait for the same host.
    public var priority: RetryPriority

    /// What is shared with other requests.
    public var coordinator: RetryCoordinator

    /// By what a server knows that a request is the same as one before.
    public var idempotency: IdempotencyKeys

    /// Told what happens.
    public var observer: RetryObserver?

    /// Follows each request and its attempts.
    public var tracer: (any RequestTracer)?

    /// What measures the deadline and the history.
    public var clock: any Clock<Duration>

    /// Whether what is missing of an answer can be asked for, so that it need not be waited for when the path was away.
    package var resumes: @Sendable () -> Bool = { false }

    /// Settings, each but the coordinator with its default.
    public init(
        adapter: (any RequestAdapter)? = nil,
        retrier: (any RequestRetrier)? = nil,
        validate: Validation? = nil,
        redirects: RedirectRule? = nil,
        attemptTimeout: Duration? = nil,
        connectTimeout: Duration? = .seconds(10),
        host: String? = nil,
        priority: RetryPriority = .normal,
        coordinator: RetryCoordinator,
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
