import LinuxSupport

/// A message queue with one reader, which takes all messages at once. Thread-safe.
package final class MessageQueue<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var reader: CheckedContinuation<Void, Never>?
        /// True if the reader must wake without a message.
        var isCalled = false
    }

    private let state = Locked(State())

    package init() {}

    /// Adds a message. Never blocks.
    package func post(_ message: Message) {
        let reader = state.withLock { state in
            state.messages.append(message)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Ends the current wait of the reader, or its next one.
    package func call() {
        let reader = state.withLock { state in
            state.isCalled = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Returns all messages, and waits for one if there are none. Cancelling the task does not end the wait.
    ///
    /// - Parameter deadline: The end of the wait; nil for no deadline.
    /// - Returns: The messages, oldest first. Empty after ``call()`` or the deadline.
    package func take(until deadline: ContinuousClock.Instant?) async -> [Message] {
        if let messages = takeNow() { return messages }
        let alarm = deadline.map { deadline in
            Task {
                do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return }
                call()
            }
        }
        await withCheckedContinuation { reader in
            let isReady = state.withLock { state in
                let isReady = state.isCalled || !state.messages.isEmpty
                if !isReady { state.reader = reader }
                return isReady
            }
            if isReady { reader.resume() }
        }
        alarm?.cancel()
        return takeNow() ?? []
    }

    /// Returns nil if there is no reason to wake.
    private func takeNow() -> [Message]? {
        state.withLock { state in
            guard state.isCalled || !state.messages.isEmpty else { return nil }
            defer { (state.messages, state.isCalled) = ([], false) }
            return state.messages
        }
    }
}

/// A probe that runs without a task. Its result is passed to the owner, or to a round that has taken it over. Thread-safe.
final class RunningProbe: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<ProbeResult, Never>)
        case over(ProbeResult)
    }

    /// Whether echoes are not permitted, so that a datagram replaces an echo.
    let replacesEcho: Bool
    private let state = Locked(State.open)
    /// The number of the job in the socket engine.
    private let number = Locked<UInt64?>(nil)
    private let engine: SocketEngine
    private let completion: @Sendable (ProbeResult) -> Void

    /// - Parameter completion: Called once with the result on the engine's thread. It must not block.
    init(
        on engine: SocketEngine,
        replacesEcho: Bool = false,
        completion: @escaping @Sendable (ProbeResult) -> Void
    ) {
        (self.engine, self.replacesEcho, self.completion) = (engine, replacesEcho, completion)
    }

    func begin(_ number: UInt64) {
        self.number.withLock { $0 = number }
    }

    func end(_ result: ProbeResult) {
        let waiting: CheckedContinuation<ProbeResult, Never>? = state.withLock { state in
            defer { state = .over(result) }
            if case .awaited(let waiting) = state { return waiting }
            return nil
        }
        if let waiting { waiting.resume(returning: result) } else { completion(result) }
    }

    func cancel() {
        if let number = number.withLock({ $0 }) { engine.cancel(number) }
    }

    /// Takes the probe over and waits for its result. Cancelling the task cancels the probe.
    func result() async -> ProbeResult {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                let result: ProbeResult? = state.withLock { state in
                    if case .over(let result) = state { return result }
                    state = .awaited(waiting)
                    return nil
                }
                if let result { waiting.resume(returning: result) }
            }
        } onCancel: {
            cancel()
        }
    }
}
