import Foundation
import FoundationNetworking
import LinuxSupport

/// Stands before the session's delegate for one task: a redirect ends the task and is its answer, for where it leads is a request of its
/// own. All else is the session's delegate's, if it has one; it also says whether a redirect is to be followed.
final class RedirectWatch: NSObject, URLSessionTaskDelegate {
    private let inner: (any URLSessionTaskDelegate)?
    private let state = Locked(false)

    init(before inner: (any URLSessionTaskDelegate)?) {
        self.inner = inner
    }

    /// Whether the session's delegate does not want a redirect to be followed.
    var hasDeclined: Bool { state.withLock { $0 } }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let inner else { return completionHandler(nil) }
        inner.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request) {
            [state] answer in
            state.withLock { $0 = answer == nil }
            completionHandler(nil)
        }
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
