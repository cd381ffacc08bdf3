package import Dispatch

/// One descriptor for the whole process that becomes readable when the machine wakes; open while somebody watches.
package final class SleepWatch: Sendable {
    package static let shared = SleepWatch()

    private struct Observer {
        let queue: DispatchQueue
        let action: @Sendable () -> Void
    }

    private struct State {
        var observers: [UInt64: Observer] = [:]
        var next: UInt64 = 0
        var source: Cancellation?
    }

    private let state: Locked<State> = Locked(State())
    private let queue = DispatchQueue(label: "LinuxSupport.sleep")

    /// Runs `action` on `queue` after each wake or change of the clock; nil when the kernel offers no such timer.
    package func add(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        let identifier: UInt64? = state.withLock { state in
            if state.source == nil { state.source = makeSource() }
            guard state.source != nil else { return nil }
            state.next += 1
            state.observers[state.next] = Observer(queue: queue, action: action)
            return state.next
        }
        guard let identifier else { return nil }
        return Cancellation { [self] in remove(identifier) }
    }

    private func remove(_ identifier: UInt64) {
        let (observer, source): (Observer?, Cancellation?) = state.withLock { state in
            let observer = state.observers.removeValue(forKey: identifier)
            guard state.observers.isEmpty else { return (observer, nil) }
            defer { state.source = nil }
            return (observer, state.source)
        }
        source?.cancel()
        withExtendedLifetime(observer) {}
    }

    private func makeSource() -> Cancellation? {
        guard let watch = try? ClockWatch() else { return nil }
        return ReadSource.watch(watch.descriptor, of: watch, on: queue) { [self] in
            watch.rearm()
            for observer in state.withLock({ Array($0.observers.values) }) {
                observer.queue.async(execute: observer.action)
            }
        }
    }
}
