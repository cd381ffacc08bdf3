import LinuxSupport

/// A gate that is closed until it is opened.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var number = 0
    }

    private let state = Locked(State())

    package init() {}

    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        waiters.forEach { $0.resume() }
    }

    /// Waits until the gate is open or the task is cancelled.
    package func wait() async {
        let number = nextNumber()
        await withTaskCancellationHandler {
            await wait(number)
        } onCancel: {
            leave(number)
        }
    }

    /// Waits until the gate is open.
    package func waitIgnoringCancellation() async {
        let number = nextNumber()
        await withCheckedContinuation { join(number, $0, isCancelled: false) }
    }

    private func nextNumber() -> Int {
        state.withLock { state in
            state.number += 1
            return state.number
        }
    }

    private func wait(_ number: Int) async {
        await withCheckedContinuation { continuation in
            join(number, continuation, isCancelled: Task.isCancelled)
            if Task.isCancelled { leave(number) }
        }
    }

    private func join(_ number: Int, _ continuation: CheckedContinuation<Void, Never>, isCancelled: Bool) {
        let passes = state.withLock { state in
            guard !state.isOpen, !isCancelled else { return true }
            state.waiters[number] = continuation
            return false
        }
        if passes { continuation.resume() }
    }

    private func leave(_ number: Int) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
}
