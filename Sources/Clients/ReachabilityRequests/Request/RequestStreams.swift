public import Dispatch
import FoundationEssentials
import LinuxSupport

/// Interceptors of one request. They are added before the request is sent.
extension Request {
    /// Adds an adapter. It is called before every attempt, after the adapters of the session.
    @discardableResult
    public func adapt(using adapter: any RequestAdapter) -> Self {
        values.withLock { $0.adapters.append(adapter) }
        return self
    }

    /// Adds a retrier. It is called after the retriers of the session.
    @discardableResult
    public func retry(using retrier: any RequestRetrier) -> Self {
        values.withLock { $0.retriers.append(retrier) }
        return self
    }

    /// Adds an adapter and a retrier, see ``adapt(using:)`` and ``retry(using:)``.
    @discardableResult
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self {
        adapt(using: interceptor).retry(using: interceptor)
    }
}

extension Request {
    /// Calls the closure with each attempt. If one was made before, the closure is called with the last.
    @discardableResult
    public func onURLSessionTaskCreation(
        on queue: DispatchQueue = .main,
        perform handler: @escaping @Sendable (URLSessionTask) -> Void
    ) -> Self {
        let task = values.withLock { values in
            values.taskHandlers.append(QueuedHandler(queue: queue, handler: handler))
            return values.tasks.last
        }
        if let task { queue.async { handler(task) } }
        return self
    }
}

/// The events of a request as asynchronous sequences, until its result. They do not send the request.
extension Request {
    /// Keeps the order of the elements and the end of sequences.
    private static let streamQueue = DispatchQueue(label: "reachability.requests.streams")

    /// The heads of the answers, beginning with the latest one.
    public func httpResponses(
        bufferingPolicy: StreamOf<HTTPURLResponse>.Continuation.BufferingPolicy = .unbounded
    ) -> StreamOf<HTTPURLResponse> {
        stream(bufferingPolicy) { _, yield in if let response = addResponseHandler(yield) { yield(response) } }
    }

    /// The requests that are created, see ``onURLRequestCreation(on:perform:)``.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.Continuation.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        stream(bufferingPolicy) { queue, yield in onURLRequestCreation(on: queue, perform: yield) }
    }

    /// The attempts, see ``onURLSessionTaskCreation(on:perform:)``.
    public func urlSessionTasks(
        bufferingPolicy: StreamOf<URLSessionTask>.Continuation.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionTask> {
        stream(bufferingPolicy) { queue, yield in onURLSessionTaskCreation(on: queue, perform: yield) }
    }

    /// The command line of curl(1) for each request that is created. Secrets are masked.
    public func cURLDescriptions(
        bufferingPolicy: StreamOf<String>.Continuation.BufferingPolicy = .unbounded
    ) -> StreamOf<String> {
        stream(bufferingPolicy) { queue, yield in
            onURLRequestCreation(on: queue) { [weak self] _ in if let self { yield(cURLDescription()) } }
        }
    }

    /// Makes a sequence of the values of a handler.
    private func stream<Element: Sendable>(
        _ policy: StreamOf<Element>.Continuation.BufferingPolicy,
        _ addHandler: (DispatchQueue, @escaping @Sendable (Element) -> Void) -> Void
    ) -> StreamOf<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        addHandler(Self.streamQueue) { continuation.yield($0) }
        atEnd { Self.streamQueue.async { continuation.finish() } }
        return stream
    }
}
