import LinuxSupport

/// Somebody who wants to hear of the set of namespaces.
final class NamespaceObserver: Sendable {
    typealias Delivery = @Sendable ([NetworkNamespaces.Entry], NamespaceObserver) -> Void

    private struct State {
        /// Let go of at the end: a listener may well hold what holds this.
        var deliver: Delivery?
        var notified: [NetworkNamespaces.Entry]?
    }

    private let state: Locked<State>

    init(_ deliver: @escaping Delivery) {
        state = Locked(State(deliver: deliver))
    }

    /// Whether nothing more may be notified.
    var hasEnded: Bool { state.withLock { $0.deliver == nil } }

    /// Notifies no more.
    func end() {
        let deliver = state.withLock { state in
            defer { state.deliver = nil }
            return state.deliver
        }
        // What the listener holds dies here, outside the lock.
        withExtendedLifetime(deliver) {}
    }

    /// Takes the set as it is now, and delivers it if it has changed.
    func offer(_ entries: [NetworkNamespaces.Entry]) {
        let deliver: Delivery? = state.withLock { state in
            guard state.notified != entries else { return nil }
            state.notified = entries
            return state.deliver
        }
        deliver?(entries, self)
    }
}
