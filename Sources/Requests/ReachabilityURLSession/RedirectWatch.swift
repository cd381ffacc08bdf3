import Foundation
import FoundationNetworking
import ReachabilityRetry

/// Stands before the session's delegate for one task: learns that the task was answered with a redirect. All else is the session's
/// delegate's, if it has one.
final class RedirectWatch: NSObject, URLSessionTaskDelegate {
    private let progress: AttemptProgress
    private let inner: (any URLSessionTaskDelegate)?

    init(_ progress: AttemptProgress, before inner: (any URLSessionTaskDelegate)?) {
        self.progress = progress
        self.inner = inner
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        progress.redirect()
        guard let inner else { return completionHandler(session.withCookies(request)) }
        inner.urlSession(
            session,
            task: task,
            willPerformHTTPRedirection: response,
            newRequest: request,
            completionHandler: completionHandler
        )
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let inner else { return completionHandler(.performDefaultHandling, nil) }
        inner.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let inner else { return completionHandler(task.originalRequest?.httpBodyStream) }
        inner.urlSession(session, task: task, needNewBodyStream: completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        inner?.urlSession(
            session,
            task: task,
            didSendBodyData: bytesSent,
            totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend
        )
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        inner?.urlSession(session, task: task, didCompleteWithError: error)
    }
}

extension URLSession {
    /// The request of the next hop with the cookies for it, which a session without a delegate adds by itself.
    fileprivate func withCookies(_ request: URLRequest) -> URLRequest {
        guard configuration.httpShouldSetCookies, let url = request.url,
            let cookies = configuration.httpCookieStorage?.cookies(for: url), !cookies.isEmpty
        else { return request }
        var request = request
        for (name, value) in HTTPCookie.requestHeaderFields(with: cookies) {
            request.setValue(value, forHTTPHeaderField: name)
        }
        return request
    }
}
