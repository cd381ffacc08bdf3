import ReachabilityAlamofire

/// An adapter and a retrier written for Alamofire 4.
final class OAuth2Handler: RequestAdapter, RequestRetrier {
    private let token = "token"

    func adapt(_ urlRequest: URLRequest) throws -> URLRequest {
        var urlRequest = urlRequest
        urlRequest.setValue("Bearer " + token, forHTTPHeaderField: "Authorization")
        return urlRequest
    }

    func should(
        _ manager: SessionManager,
        retry request: Request,
        with error: any Error,
        completion: @escaping RequestRetryCompletion
    ) {
        if let response = request.response, response.statusCode == 401, request.retryCount == 0 {
            completion(true, 0.0)
        } else {
            completion(false, 0.0)
        }
    }
}
