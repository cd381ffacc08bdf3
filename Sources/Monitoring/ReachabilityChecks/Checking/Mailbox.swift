import LinuxSupport

/// What comes in for one reader, who takes all there is at once: many may come between two of his looks. Thread-safe.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var reader: CheckedContinuation<Void, Never>?
        /// Whether the reader is to look, though nothing may have come.
        var isCalled = false
    }

    private let state = Locked(State())

    package init() {}

    /// Never waits.
    package func post(_ message: Message) {
        let reader = state.withLock { state in
            state.messages.append(message)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Ends the wait that is going on, or the next one.
    package func call() {
        let reader = state.withLock { state in
            state.isCalled = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Takes everything that has come, and waits for something where nothing has; cancelling the task does not end that.
    ///
    /// - Parameter deadline: when not to wait any longer; nil for never.
    /// - Returns: in the order in which it came; nothing when it was called, or the time was over.
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

    /// Nil where there is no reason to look.
    private func takeNow() -> [Message]? {
        state.withLock { state in
            guard state.isCalled || !state.messages.isEmpty else { return nil }
            defer { (state.messages, state.isCalled) = ([], false) }
            return state.messages
        }
    }
}
