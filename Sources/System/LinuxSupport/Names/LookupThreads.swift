import Dispatch

/// Asks the name service on threads of our own, and tells whoever asked within a bounded time.
///
/// Completions run on these threads, on one of Dispatch where a question was given up, or on the caller's where it is refused; no lock is
/// held.
package final class LookupThreads: Sendable {
    package typealias Start = @Sendable (_ body: @escaping @Sendable () -> Void) throws(SystemError) -> Void

    private struct State {
        var queue: LookupQueue
        var timer: Cancellation?
        var timerIsDue: Duration?
    }

    /// Not a global queue: from the first use of one on, Dispatch wakes the process every second (``TaskQueue``).
    private static let timerQueue = DispatchQueue(label: "LinuxSupport.lookups")

    private let state: Locked<State>
    private let lookup: @Sendable (String) -> LookupQueue.Answer
    private let startThread: Start

    /// - Parameters:
    ///   - startThread: makes a detached thread.
    ///   - lookup: asks for a name, and blocks.
    package init(
        limits: LookupQueue.Limits = LookupQueue.Limits(),
        startThread: @escaping Start = Thread.detach,
        lookup: @escaping @Sendable (String) -> LookupQueue.Answer
    ) {
        state = Locked(State(queue: LookupQueue(limits: limits)))
        self.startThread = startThread
        self.lookup = lookup
    }

    /// Asks for `name` and calls `completion` exactly once.
    package func ask(for name: String, _ completion: @escaping @Sendable (LookupQueue.Answer) -> Void) {
        perform { queue, now in queue.ask(LookupQueue.Lookup(name: name, completion: completion), at: now) }
    }

    /// - Parameter isWorker: The calling thread has nothing else to do, so it may take a question; where no other can be made it must.
    /// - Returns: The question it has to ask.
    @discardableResult
    private func perform(
        isWorker: Bool = false,
        _ change: @Sendable (inout LookupQueue, _ now: Duration) -> [LookupQueue.Action]
    ) -> LookupQueue.Question? {
        let now = SystemClock.monotonic
        let actions = state.withLock { state in
            let actions = change(&state.queue, now)
            setTimer(in: &state, now)
            return actions
        }
        var own: LookupQueue.Question?
        for action in actions {
            switch action {
            case .start(let question): if isWorker, own == nil { own = question } else { start(question) }
            case .complete(let lookup, let answer): lookup.completion(answer)
            }
        }
        return own
    }

    private func start(_ question: LookupQueue.Question) {
        do throws(SystemError) {
            try startThread { [self] in work(on: question) }
        } catch {
            perform { queue, _ in queue.cannotStart(question, because: error) }
        }
    }

    /// Asks until nothing is left to ask, then lets the thread end.
    private func work(on first: LookupQueue.Question) {
        var next: LookupQueue.Question? = first
        while let question = next {
            let answer = lookup(question.name)
            next = perform(isWorker: true) { queue, now in queue.finish(question, with: answer, at: now) }
        }
    }

    /// One timer for all questions, and none while nothing is asked.
    private func setTimer(in state: inout State, _ now: Duration) {
        let due = state.queue.nextAdvance(after: now)
        guard due != state.timerIsDue else { return }
        state.timer?.cancel()
        state.timerIsDue = due
        state.timer = due.map { due in
            DispatchTimer.schedule(after: due - now, on: Self.timerQueue) { [self] in
                // The timer holds this object, so it must not be held by it any longer than it runs.
                let timer = self.state.withLock { state in
                    defer { (state.timer, state.timerIsDue) = (nil, nil) }
                    return state.timer
                }
                timer?.cancel()
                perform { queue, now in queue.advance(to: now) }
            }
        }
    }
}
