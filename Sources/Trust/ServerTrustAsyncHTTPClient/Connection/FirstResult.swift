import LinuxPrimitives
import NIOCore

/// A promise that several may keep; the first does.
struct FirstResult<Value: Sendable>: Sendable {
    private let promise: Locked<EventLoopPromise<Value>?>
    let future: EventLoopFuture<Value>

    init(on eventLoop: any EventLoop) {
        let promise = eventLoop.makePromise(of: Value.self)
        future = promise.futureResult
        self.promise = Locked(promise)
    }

    func complete(_ result: Result<Value, any Error>) {
        promise.withLock { $0.take() }?.completeWith(result)
    }
}
