public import FoundationEssentials
public import ReachabilityRequests
public import ServerTrust

// Names of Alamofire that cannot exist without URLSession. The compiler's message names the alternative.

/// Not available.
@available(
    *,
    unavailable,
    message: "there is no URLSession: use redirect(using:), authenticate(with:) or an EventMonitor"
)
public final class SessionDelegate {}

extension Session {
    /// Not available.
    @available(*, unavailable, message: "there is no URLSession: leave the delegate out")
    public convenience init(
        configuration: URLSessionConfiguration = .default,
        delegate: SessionDelegate,
        serverTrustPolicyManager: ServerTrustPolicyManager? = nil
    ) {
        self.init(configuration: configuration, serverTrustPolicyManager: serverTrustPolicyManager)
    }

    /// Not available.
    @available(*, unavailable, message: "use redirect(using:), authenticate(with:) or an EventMonitor")
    public var delegate: SessionDelegate { fatalError("unavailable") }

    /// Not available.
    @available(
        *,
        unavailable,
        message: "set timeouts and header fields of the configuration before the session is created"
    )
    public var session: Session { self }

    /// Not available.
    @available(
        *,
        unavailable,
        message: "a process on Linux is not suspended: use a service, or an outbox (ReachabilityOutbox)"
    )
    public var backgroundCompletionHandler: (() -> Void)? {
        get { nil }
        set {}
    }
}

extension DataRequest {
    /// Not available.
    @available(*, unavailable, message: "use streamRequest(_:) of the session")
    @discardableResult
    public func stream(closure: ((Data) -> Void)? = nil) -> Self { self }
}
