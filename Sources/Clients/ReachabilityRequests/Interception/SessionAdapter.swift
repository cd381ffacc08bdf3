public import FoundationEssentials
public import ReachabilityRetry

/// An adapter with Alamofire 5's signature: it is told the session, and calls a completion.
///
/// It needs a ``Session``: a request that another client sends fails with ``MissingSession``, rather than go without what the adapter adds.
public protocol SessionAdapter: RequestAdapter {
    /// Calls `completion` with the request as it is to be sent, or with an error. Only the first call counts. Until it is called the
    /// request waits, unless it is cancelled.
    func adapt(
        _ urlRequest: PlainRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    )

    /// The same, with what tells requests apart. Unless implemented it is ``adapt(_:for:completion:)``.
    func adapt(
        _ urlRequest: PlainRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    )
}

/// What is known of a request that is adapted.
public struct RequestAdapterState: Sendable {
    /// The same in every attempt of a request, and in no other request.
    public let requestID: UUID
    /// Who sends it.
    public let session: Session

    /// What an adapter is told.
    public init(requestID: UUID, session: Session) {
        self.requestID = requestID
        self.session = session
    }
}

extension SessionAdapter {
    /// Asks without the state.
    public func adapt(
        _ urlRequest: PlainRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: state.session, completion: completion)
    }

    /// Asks with the session that sends, and waits for the completion.
    public func adapt(_ request: PlainRequest) async throws -> PlainRequest { try await adaptInSession(request) }

    func adaptInSession(_ request: PlainRequest) async throws -> PlainRequest {
        guard let context = SessionContext.current else { throw MissingSession() }
        let state = RequestAdapterState(requestID: context.requestID, session: context.session)
        return try await completed { adapt(request, using: state, completion: $0) }.get()
    }
}
