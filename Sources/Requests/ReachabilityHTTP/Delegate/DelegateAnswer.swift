import AsyncHTTPClient
import NIOCore

/// What came of an attempt with a delegate.
enum DelegateAnswer<Delegate: HTTPClientResponseDelegate>: Sendable {
    case finished(Delegate.Response)
    /// The answer has begun and waits.
    case held(HTTPClient.Task<Delegate.Response>, AttemptDelegate<Delegate>)
    /// A redirect, of which nothing is read but its head.
    case redirected(HTTPClient.Task<Delegate.Response>, AttemptDelegate<Delegate>)

    /// Nil where the answer has not ended.
    var response: Delegate.Response? { if case .finished(let response) = self { response } else { nil } }

    /// Of an answer that takes longer the connection is closed.
    private static var discardTime: TimeAmount { .milliseconds(50) }

    /// Lets go of an answer nobody will see.
    func discard() async {
        guard case .held(let task, let delegate) = self else { return }
        delegate.discard()
        let timer = task.eventLoop.scheduleTask(in: Self.discardTime) { task.cancel() }
        _ = try? await task.futureResult.get()
        timer.cancel()
    }

    /// Lets the delegate have the answer, and waits for what it makes of it.
    func finish() async throws -> Delegate.Response {
        switch self {
        case .finished(let response): return response
        case .held(let task, let delegate):
            delegate.tell(task)
            return try await task.result()
        case .redirected(let task, let delegate):
            guard let head = delegate.head else { throw HTTPClientError.cancelled }
            return try await task.eventLoop.flatSubmit { [inner = delegate.inner] in
                inner.didReceiveHead(task: task, head)
            }.flatMapThrowing { [inner = delegate.inner] in try inner.didFinishRequest(task: task) }.get()
        }
    }
}

extension HTTPClient.Task where Response: Sendable {
    /// Waits for the end; is cancelled with the task it is called in.
    func result() async throws -> Response {
        do {
            return try await withTaskCancellationHandler {
                try await futureResult.get()
            } onCancel: {
                cancel()
            }
        } catch let error as HTTPClientError where error == .cancelled && _Concurrency.Task.isCancelled {
            throw CancellationError()
        }
    }
}
