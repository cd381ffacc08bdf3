/// How the requests of an HTTP client are retried, beside the policy. Every setting has a default, but the coordinator only
/// with the trait `Netlink`: without it, it has to be given.
///
/// | Setting | Default | Meaning |
/// |---|---|---|
/// | ``adapter`` | none | changes the request before each attempt |
/// | ``attemptTimeout`` | none | how long one attempt may take; the client's own timeouts hold besides |
/// | ``connectTimeout`` | 10 s | how long one attempt may take until something of it is sent |
/// | ``host`` | that of the URL | whose reachability is waited for, and whose limits hold: that of a proxy, for example |
/// | ``priority`` | normal | who goes first among those that wait for the same host |
/// | ``coordinator`` | ``RetryCoordinator/shared`` | what is shared with other requests |
/// | ``clock`` | `ContinuousClock` | what measures the deadline and the history |
public struct RequestRetryOptions: Sendable {
    /// Changes the request before each attempt. It is always given the request as the caller made it. An error of its own ends the
    /// request (``AdapterFailure``). Whether the request may be repeated is told by the request as the caller made it: an
    /// idempotency key belongs there, for it has to be the same in each attempt.
    public var adapter: (any RequestAdapter)?

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

    /// What measures the deadline and the history.
    public var clock: any Clock<Duration>

    /// Settings, each but the coordinator with its default.
    public init(
        adapter: (any RequestAdapter)? = nil,
        attemptTimeout: Duration? = nil,
        connectTimeout: Duration? = .seconds(10),
        host: String? = nil,
        priority: RetryPriority = .normal,
        coordinator: RetryCoordinator,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.adapter = adapter
        self.attemptTimeout = attemptTimeout
        self.connectTimeout = connectTimeout
        self.host = host
        self.priority = priority
        self.coordinator = coordinator
        self.clock = clock
    }
}
