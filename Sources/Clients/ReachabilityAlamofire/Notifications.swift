public import Foundation
public import ReachabilityRequests

// Notifications of requests, with the names of Alamofire 5 and 4. The first use of a name begins to post them, for all sessions of the process.
// A process that uses none of the names does not pay for them.

extension Request {
    /// Posted when a request begins or continues.
    public static let didResumeNotification = NotificationPoster.name("request.didResume")
    /// Posted when a request is suspended.
    public static let didSuspendNotification = NotificationPoster.name("request.didSuspend")
    /// Posted when a request is cancelled.
    public static let didCancelNotification = NotificationPoster.name("request.didCancel")
    /// Posted when a request has its result.
    public static let didFinishNotification = NotificationPoster.name("request.didFinish")

    /// Posted when an attempt begins or continues.
    public static let didResumeTaskNotification = NotificationPoster.name("task.didResume")
    /// Posted when an attempt is suspended.
    public static let didSuspendTaskNotification = NotificationPoster.name("task.didSuspend")
    /// Posted when an attempt is cancelled.
    public static let didCancelTaskNotification = NotificationPoster.name("task.didCancel")
    /// Posted when an attempt has ended.
    public static let didCompleteTaskNotification = NotificationPoster.name("task.didComplete")
}

// swift-format-ignore: AlwaysUseLowerCamelCase
extension Notification.Name {
    /// The names of Alamofire 4.
    public enum Task {
        /// Posted when an attempt begins or continues.
        public static let DidResume = Request.didResumeTaskNotification
        /// Posted when an attempt is suspended.
        public static let DidSuspend = Request.didSuspendTaskNotification
        /// Posted when an attempt is cancelled.
        public static let DidCancel = Request.didCancelTaskNotification
        /// Posted when an attempt has ended.
        public static let DidComplete = Request.didCompleteTaskNotification
    }
}

extension Notification {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The keys of `userInfo` in Alamofire 4.
    public enum Key {
        /// The attempt, a `URLSessionTask`, of a notification about an attempt.
        public static let Task = "reachability.alamofire.task"
        /// The body of the answer, of a request whose answer is kept in memory; missing until the request has its result.
        public static let ResponseData = "reachability.alamofire.data"
    }

    fileprivate static let requestKey = "reachability.alamofire.request"

    /// The request; nil for other notifications.
    public var request: Request? { userInfo?[Self.requestKey] as? Request }
}

/// Posts notifications for all sessions of the process, as does the first use of one of their names. They are posted on the main queue.
public final class AlamofireNotifications: EventMonitor {
    /// Begins to post notifications.
    public init() { NotificationPoster.start }
}

/// Posts the notifications of all sessions.
private struct NotificationPoster: EventMonitor {
    /// Starts the posting of notifications when it is first read.
    static let start: Void = Session.reportAllEvents(to: NotificationPoster())

    static func name(_ name: String) -> Notification.Name {
        start
        return Notification.Name("reachability.alamofire.\(name)")
    }

    private func post(_ name: Notification.Name, _ request: Request, _ task: URLSessionTask? = nil) {
        var info: [String: Any] = [Notification.requestKey: request]
        info[Notification.Key.Task] = task
        info[Notification.Key.ResponseData] = task == nil ? nil : (request as? DataRequest)?.data
        NotificationCenter.default.post(name: name, object: request, userInfo: info)
    }

    func requestDidResume(_ request: Request) { post(Request.didResumeNotification, request) }
    func requestDidSuspend(_ request: Request) { post(Request.didSuspendNotification, request) }
    func requestDidCancel(_ request: Request) { post(Request.didCancelNotification, request) }
    func requestDidFinish(_ request: Request) { post(Request.didFinishNotification, request) }

    func request(_ request: Request, didResumeTask task: URLSessionTask) {
        post(Request.didResumeTaskNotification, request, task)
    }

    func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        post(Request.didSuspendTaskNotification, request, task)
    }

    func request(_ request: Request, didCancelTask task: URLSessionTask) {
        post(Request.didCancelTaskNotification, request, task)
    }

    func request(
        _ request: Request,
        didCompleteTask task: URLSessionTask,
        with error: AFError?
    ) {
        post(Request.didCompleteTaskNotification, request, task)
    }
}

/// For ``URLEncoding``: `NSNumber(value: 1)` is not `true`.
extension NSNumber: LooseNumber {
    /// A Boolean value that indicates whether it is one of the two Boolean values, which Foundation has once each.
    var isBoolean: Bool { self === true as NSNumber || self === false as NSNumber }
}
