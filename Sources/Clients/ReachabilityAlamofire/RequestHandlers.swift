public import Dispatch
public import ReachabilityRequests

// Handlers of the events of a request, and its events as sequences.

extension Request {
    /// Calls the closure with each request that is created: the first one, those of adapters and those of retries. If one was created
    /// before, the closure is called with the last.
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main,
        perform handler: @escaping @Sendable (URLRequest) -> Void
    ) -> Self {
        add(handler, on: queue, addRequestHandler)
    }

    /// Calls the closure with the command line of curl(1) that sends the same request. Secrets are masked.
    @discardableResult
    public func cURLDescription(
        on queue: DispatchQueue = .main,
        calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        queue.async { handler(self.cURLDescription()) }
        return self
    }

    /// Calls the closure with each attempt. If one was made before, the closure is called with the last.
    @discardableResult
    public func onURLSessionTaskCreation(
        on queue: DispatchQueue = .main,
        perform handler: @escaping @Sendable (URLSessionTask) -> Void
    ) -> Self {
        add(handler, on: queue, addTaskHandler)
    }

    /// Adds a handler on a queue. It is called at once with the latest value.
    private func add<Value: Sendable>(
        _ handler: @escaping @Sendable (Value) -> Void,
        on queue: DispatchQueue,
        _ add: (@escaping @Sendable (Value) -> Void) -> Value?
    ) -> Self {
        let call: @Sendable (Value) -> Void = { value in queue.async { handler(value) } }
        if let value = add(call) { call(value) }
        return self
    }

    /// Calls the closure with the head of each answer, before the body is read.
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main,
        perform handler: @escaping @Sendable (_ response: HTTPURLResponse) -> Void
    ) -> Self {
        call { response in await queue.call { handler(response) } }
    }

    /// Calls the closure with the head of each answer, before the body is read. The request is cancelled if the closure says so.
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main,
        perform handler:
            @escaping @Sendable (
                _ response: HTTPURLResponse, _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
            ) -> Void
    ) -> Self {
        call { [weak self] response in
            let disposition = try? await completed { completion in
                queue.async { handler(response, completion) }
            }
            if disposition == .cancel { self?.cancel() }
        }
    }

    private func call(_ handler: @escaping @Sendable (HTTPURLResponse) async -> Void) -> Self {
        if let response = addResponseHandler(handler) { Task { await handler(response) } }
        return self
    }

    /// The action for an answer whose head was received.
    public enum ResponseDisposition: Hashable, Sendable {
        /// The body of the answer is read.
        case allow
        /// The request is cancelled.
        case cancel
    }
}

/// The events of a request as asynchronous sequences, until its result. They do not send the request.
extension Request {
    /// Keeps the order of the elements and the end of sequences.
    private static let streamQueue = DispatchQueue(label: "reachability.requests.streams")

    /// Returns a sequence of the heads of the answers, beginning with the latest one.
    public func httpResponses(
        bufferingPolicy: StreamOf<HTTPURLResponse>.Continuation.BufferingPolicy = .unbounded
    ) -> StreamOf<HTTPURLResponse> {
        stream(bufferingPolicy) { _, yield in if let response = addResponseHandler(yield) { yield(response) } }
    }

    /// Returns a sequence of the requests that are created, see `onURLRequestCreation(on:perform:)`.
    public func urlRequests(
        bufferingPolicy: StreamOf<URLRequest>.Continuation.BufferingPolicy = .unbounded
    ) -> StreamOf<URLRequest> {
        stream(bufferingPolicy) { queue, yield in onURLRequestCreation(on: queue, perform: yield) }
    }

    /// Returns a sequence of the attempts, see `onURLSessionTaskCreation(on:perform:)`.
    public func urlSessionTasks(
        bufferingPolicy: StreamOf<URLSessionTask>.Continuation.BufferingPolicy = .unbounded
    ) -> StreamOf<URLSessionTask> {
        stream(bufferingPolicy) { queue, yield in onURLSessionTaskCreation(on: queue, perform: yield) }
    }

    /// Returns a sequence of command lines of curl(1), one for each request that is created. Secrets are masked.
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
