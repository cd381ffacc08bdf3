@testable import ReachabilityRequests

/// A request whose last attempt has a status; nil for no answer.
func failedRequest(status: Int?, retries: Int = 0, method: HTTPMethod = .get) -> Request {
    let request = Session(startRequestsImmediately: false).request("https://example.org/", method: method)
    request.values.withLock { values in
        values.retryCount = retries
        values.response = status.map { HTTPURLResponse(text: "https://example.org/", statusCode: $0) }
    }
    return request
}

/// The error of an attempt that had no answer.
let lostConnection = AFError.sessionTaskFailed(error: AttemptError.pathInterrupted)
