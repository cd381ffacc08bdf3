import FoundationEssentials
// The only edit: this import replaces that of Alamofire.
import ReachabilityAlamofire

/// An adapter that adds header fields.
struct TraceAdapter: RequestAdapter {
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.add(name: "Trace", value: "1")
        urlRequest.setValue("2", forHTTPHeaderField: "Trace-More")
        completion(.success(urlRequest))
    }
}

/// An adapter that adds the identity of the request.
struct NumberingAdapter: RequestAdapter {
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.add(name: "Request-ID", value: state.requestID.uuidString)
        completion(.success(urlRequest))
    }
}

/// A retrier that decides by the status and the number of retries.
struct BusyRetrier: RequestRetrier {
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        if request.response?.statusCode == 420, request.retryCount < 2 {
            completion(.retryWithDelay(0.001))
        } else if error.asAFError?.responseCode == 418 {
            completion(.doNotRetryWithError(AuthenticationError.missingCredential))
        } else {
            completion(.doNotRetry)
        }
    }
}

/// An adapter and retrier as a class.
final class Doorman: RequestInterceptor {
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.headers.add(.authorization(bearerToken: "token"))
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(request.retryCount == 0 ? .retry : .doNotRetry)
    }
}

/// An interceptor without methods.
struct Idle: RequestInterceptor {}

/// Interceptors of all initializers.
func allInterceptors() throws -> [any RequestInterceptor] {
    [
        Doorman(), Idle(),
        Adapter { urlRequest, session, completion in completion(.success(urlRequest)) },
        Retrier { request, session, error, completion in completion(.doNotRetry) },
        Interceptor(adapters: [TraceAdapter(), NumberingAdapter()], retriers: [BusyRetrier()], interceptors: [Idle()]),
        Interceptor(adapter: TraceAdapter(), retrier: BusyRetrier()),
        Interceptor(
            adaptHandler: { urlRequest, session, completion in completion(.success(urlRequest)) },
            retryHandler: { request, session, error, completion in completion(.doNotRetry) }
        ),
        RetryPolicy(), RetryPolicy(retryLimit: 3), ConnectionLostRetryPolicy(),
        RetryPolicy(
            retryLimit: 5,
            exponentialBackoffBase: 3,
            exponentialBackoffScale: 0.1,
            retryableHTTPMethods: [.get],
            retryableHTTPStatusCodes: [500]
        ),
        // This initializer needs an edit: `try`.
        try OfflineRetrier(maximumWait: .seconds(1)),
    ]
}

/// Requests with interceptors by their short names.
func shortNames(_ session: Session) -> [DataRequest] {
    let url = "https://example.org/"
    return [
        session.request(url, interceptor: .retryPolicy),
        session.request(url, interceptor: .retryPolicy(retryLimit: 1)),
        session.request(url, interceptor: .connectionLostRetryPolicy),
        session.request(
            url,
            interceptor: .adapter { urlRequest, session, completion in completion(.success(urlRequest)) }
        ),
        session.request(url, interceptor: .retrier { request, session, error, completion in completion(.retry) }),
        session.request(url, interceptor: .interceptor(adapter: TraceAdapter(), retrier: BusyRetrier())),
        session.request(url, interceptor: .interceptor(interceptors: [Doorman(), .retryPolicy])),
    ]
}

/// A credential that expires.
struct OAuthCredential: AuthenticationCredential {
    let accessToken: String
    let refreshToken: String
    let expiration: Date

    var requiresRefresh: Bool { Date(timeIntervalSinceNow: 60 * 5) > expiration }
}

/// An authenticator in the style of Alamofire's documentation.
final class OAuthAuthenticator: Authenticator {
    func apply(_ credential: OAuthCredential, to urlRequest: inout URLRequest) {
        urlRequest.headers.add(.authorization(bearerToken: credential.accessToken))
    }

    func refresh(
        _ credential: OAuthCredential,
        for session: Session,
        completion: @escaping @Sendable (Result<OAuthCredential, any Error>) -> Void
    ) {
        let fresh = OAuthCredential(
            accessToken: credential.refreshToken,
            refreshToken: credential.refreshToken,
            expiration: Date(timeIntervalSinceNow: 3600)
        )
        completion(.success(fresh))
    }

    func didRequest(
        _ urlRequest: URLRequest,
        with response: HTTPURLResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool {
        response.statusCode == 401
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: OAuthCredential) -> Bool {
        urlRequest.headers["Authorization"] == HTTPHeader.authorization(bearerToken: credential.accessToken).value
    }
}

/// An interceptor with this authenticator.
func oauthInterceptor(_ credential: OAuthCredential) -> AuthenticationInterceptor<OAuthAuthenticator> {
    let interceptor = AuthenticationInterceptor(
        authenticator: OAuthAuthenticator(),
        credential: credential,
        refreshWindow: .init(interval: 30, maximumAttempts: 5)
    )
    interceptor.credential = credential
    return interceptor
}

/// The error of a response without data.
struct NoData: Error {}

extension DataRequest {
    /// Rejects a response without data. Applications extend the requests of Alamofire in this form.
    func validateDataExists() -> Self {
        validate { _, _, data in data?.isEmpty == false ? .success(()) : .failure(NoData()) }
    }
}
