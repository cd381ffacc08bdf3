import AsyncHTTPClient
import LinuxPrimitives
import NIOCore
import NIOHTTP1

/// Makes the body of an `HTTPClientResponse` of what a delegate is told, at the pace it is read.
final class AnswerDelegate: HTTPClientResponseDelegate {
    typealias Response = Void
    private typealias Strategy = NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark
    private typealias Producer = NIOThrowingAsyncSequenceProducer<ByteBuffer, any Error, Strategy, Demand>

    private let demand = Demand()
    private let source: Producer.Source
    private let body: Locked<Producer?>

    init() {
        let made = Producer.makeSequence(
            backPressureStrategy: Strategy(lowWatermark: 1, highWatermark: 1),
            finishOnDeinit: true,
            delegate: demand
        )
        source = made.source
        body = Locked(made.sequence)
    }

    /// The body, once. Who lets go of it before its end cancels the task.
    func takeBody(of task: HTTPClient.Task<Void>) -> HTTPClientResponse.Body {
        demand.begin(task)
        let sequence = body.withLock { body in
            defer { body = nil }
            return body
        }
        return sequence.map { .stream($0) } ?? HTTPClientResponse.Body()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        switch source.yield(buffer) {
        case .produceMore: task.eventLoop.makeSucceededVoidFuture()
        case .stopProducing: demand.wait(on: task.eventLoop)
        case .dropped: task.eventLoop.makeFailedFuture(CancellationError())
        }
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) {
        source.finish(error)
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {
        source.finish()
    }
}

/// Whether more of an answer is wanted.
private final class Demand: NIOAsyncSequenceProducerDelegate, Sendable {
    private enum State {
        case none
        case wanted
        case waiting(EventLoopPromise<Void>)
        case over
    }

    private let state = Locked(State.none)
    private let task = Locked<HTTPClient.Task<Void>?>(nil)

    func begin(_ task: HTTPClient.Task<Void>) {
        self.task.withLock { $0 = task }
    }

    /// Succeeds when more is wanted.
    func wait(on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        state.withLock { state in
            switch state {
            case .wanted, .waiting:
                state = .none
                return eventLoop.makeSucceededVoidFuture()
            case .none:
                let promise = eventLoop.makePromise(of: Void.self)
                state = .waiting(promise)
                return promise.futureResult
            case .over: return eventLoop.makeFailedFuture(CancellationError())
            }
        }
    }

    func produceMore() {
        change(to: .none, elsewhere: .wanted)?.succeed()
    }

    func didTerminate() {
        change(to: .over, elsewhere: .over)?.fail(CancellationError())
        // Of one that has ended it changes nothing.
        let task = self.task.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
    }

    /// Returns who waits.
    private func change(to after: State, elsewhere: State) -> EventLoopPromise<Void>? {
        state.withLock { state in
            if case .waiting(let promise) = state {
                state = after
                return promise
            }
            state = elsewhere
            return nil
        }
    }
}
