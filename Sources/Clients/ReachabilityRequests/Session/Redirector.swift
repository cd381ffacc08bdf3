import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

/// An attempt of a request. It stands for Foundation's class of this name.
public struct URLSessionTask: Sendable {
    /// The request as it was created.
    public let originalRequest: URLRequest?
    /// The request as it was sent last.
    public let currentRequest: URLRequest?
    /// The head of the latest answer.
    public let response: HTTPURLResponse?
    /// The state when this value was created.
    public let state: State

    /// The state of an attempt.
    public enum State: Int, Hashable, Sendable {
        /// The task is in progress.
        case running
        /// The request of the task is suspended.
        case suspended
        /// The request of the task was cancelled.
        case canceling
        /// The task has ended.
        case completed
    }
}

/// Decides about a redirect that would be followed.
public protocol RedirectHandler: Sendable {
    /// Calls `completion` with the request to send next, or with nil if the redirect is the answer.
    func task(
        _ task: URLSessionTask,
        willBeRedirectedTo request: URLRequest,
        for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    )
}

/// A handler of redirects that follows them, refuses them or changes the next request.
public struct Redirector: RedirectHandler {
    /// The action for redirects.
    public enum Behavior: Sendable {
        /// Redirects are followed.
        case follow
        /// A redirect is the answer.
        case doNotFollow
        /// The closure returns the next request, or nil if the redirect is the answer.
        case modify(@Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?)
    }

    /// The action for redirects.
    public let behavior: Behavior

    /// Creates a handler of redirects.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Applies ``behavior``.
    public func task(
        _ task: URLSessionTask,
        willBeRedirectedTo request: URLRequest,
        for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        switch behavior {
        case .follow: completion(request)
        case .doNotFollow: completion(nil)
        case .modify(let change): completion(change(task, request, response))
        }
    }
}
