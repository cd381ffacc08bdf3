import LinuxSupport
import NIOCore
import ServerTrust

/// One question to a manager about one server. The first answer counts: the manager's, the time limit's, or that nobody waits any
/// more. Whatever comes later is dropped.
final class TrustEvaluation: Sendable {
    private struct State {
        /// Nil when it has been answered.
        var promise: EventLoopPromise<TrustVerdict>?
        var task: Task<Void, Never>?
        var timeLimit: Scheduled<Void>?
    }

    private let state: Locked<State>

    /// The answer comes through the promise, exactly once, on any thread.
    init(promise: EventLoopPromise<TrustVerdict>) {
        state = Locked(State(promise: promise))
    }

    /// Reads and judges on a thread of its own, for it may take milliseconds, or wait for others.
    func start(
        chain: [[UInt8]],
        host: String,
        manager: ServerTrustManager,
        configuration: TrustConfiguration,
        limit: Duration,
        on loop: any EventLoop
    ) {
        let task = Task(executorPreference: JudgingExecutor()) {
            do throws(ServerTrustError) {
                let trust = try configuration.trust(derEncodedChain: chain, host: host)
                try await manager.evaluateOnline(trust, forHost: host)
                self.finish(.success(trust))
            } catch {
                self.finish(.failure(error))
            }
        }
        let timeLimit = loop.scheduleTask(in: TimeAmount(limit)) {
            self.finish(.failure(ServerTrustError(reason: .timedOut(limit), host: host)))
        }
        let isAnswered = state.withLock { state in
            guard state.promise != nil else { return true }
            (state.task, state.timeLimit) = (task, timeLimit)
            return false
        }
        if isAnswered { timeLimit.cancel() }
    }

    /// Answers, ends the task if it still runs, and the clock.
    func finish(_ verdict: TrustVerdict) {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.task?.cancel()
        ended.timeLimit?.cancel()
        ended.promise?.succeed(verdict)
    }
}

/// What came of one evaluation.
typealias TrustVerdict = Result<ServerTrust, ServerTrustError>
