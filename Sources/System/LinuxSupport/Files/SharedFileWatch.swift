package import Dispatch

/// One inotify descriptor for all the files this process watches for namespaces; open while somebody watches. A user may
/// have 128 of them (`/proc/sys/fs/inotify/max_user_instances`), and there may be more namespaces.
package final class SharedFileWatch: Sendable {
    package static let shared = SharedFileWatch()

    private struct Observer {
        let path: String
        let queue: DispatchQueue
        let action: @Sendable () -> Void
    }

    private struct State {
        var observers: [UInt64: Observer] = [:]
        var next: UInt64 = 0
        var watch: FileWatch?
        var source: Cancellation?
    }

    private let state: Locked<State> = Locked(State())
    private let queue = DispatchQueue(label: "LinuxSupport.files")

    /// Runs `action` on `queue` when the file at an absolute path was replaced, deleted or made; nil when there is no
    /// descriptor to spare.
    package func add(_ path: String, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation?
    {
        let identifier: UInt64? = state.withLock { state in
            if state.watch == nil { start(&state) }
            guard let watch = state.watch else { return nil }
            watch.insert(path)
            state.next += 1
            state.observers[state.next] = Observer(path: path, queue: queue, action: action)
            return state.next
        }
        guard let identifier else { return nil }
        return Cancellation { [self] in remove(identifier) }
    }

    /// Watches a file again whose directory may have been away. Nothing happens unless it is watched.
    package func renew(_ path: String) {
        state.withLock { state in
            if state.observers.values.contains(where: { $0.path == path }) { state.watch?.insert(path) }
        }
    }

    private func remove(_ identifier: UInt64) {
        let (observer, source): (Observer?, Cancellation?) = state.withLock { state in
            let observer = state.observers.removeValue(forKey: identifier)
            if let path = observer?.path, !state.observers.values.contains(where: { $0.path == path }) {
                state.watch?.remove(path)
            }
            guard state.observers.isEmpty else { return (observer, nil) }
            defer { (state.watch, state.source) = (nil, nil) }
            return (observer, state.source)
        }
        source?.cancel()
        withExtendedLifetime(observer) {}
    }

    private func start(_ state: inout State) {
        guard let watch = try? FileWatch(paths: []) else { return }
        state.watch = watch
        state.source = ReadSource.watch(watch.descriptor, of: watch, on: queue) { [self] in tell() }
    }

    private func tell() {
        let observers = state.withLock { state in
            let changes = state.watch?.changes() ?? []
            return state.observers.values.filter { changes.contains($0.path) }
        }
        for observer in observers { observer.queue.async(execute: observer.action) }
    }
}
