public import NIOCore
public import ReachabilityRetry

/// A request that is sent, and sent again, in the background.
public struct RetriedTask<Response: Sendable>: Sendable {
    /// What comes of it; fails with a `RetryError`.
    public let futureResult: EventLoopFuture<RetryOutcome<Response>>

    private let task: Task<Void, Never>

    init(
        on eventLoop: any EventLoop,
        _ operation: @escaping @Sendable () async throws(RetryError) -> RetryOutcome<Response>
    ) {
        let promise = eventLoop.makePromise(of: RetryOutcome<Response>.self)
        futureResult = promise.futureResult
        task = Task {
            do throws(RetryError) {
                promise.succeed(try await operation())
            } catch {
                promise.fail(error)
            }
        }
    }

    /// Ends it: what is under way is cancelled, what waits gives up its place. The future fails soon after.
    public func cancel() {
        task.cancel()
    }
}
