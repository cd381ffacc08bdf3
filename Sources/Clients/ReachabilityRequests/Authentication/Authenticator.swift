public import ReachabilityRetry

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
