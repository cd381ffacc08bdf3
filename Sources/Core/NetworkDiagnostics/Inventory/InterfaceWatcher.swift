import LinuxSupport
import Netlink
import NetworkReachability

/// Reads the interfaces when something may have changed, but not too often, and tells what is new. All of it runs on the monitor's
/// queue.
final class InterfaceWatcher: Sendable {
    private typealias Outcome = Result<[InterfaceDetails], NetlinkError>

    private struct State {
        var last: Outcome?
        /// When to evaluate again at the earliest, on the monotonic clock.
        var next = Duration.zero
        var timer: Cancellation?
    }

    /// From one evaluation to the next: each asks for a whole table.
    static let pause = Duration.milliseconds(200)

    private let inspector: NetworkInspector
    private let changed: @Sendable (Result<[InterfaceDetails], NetlinkError>) -> Void
    private let state = Locked(State())

    init(
        _ inspector: NetworkInspector,
        _ changed: @escaping @Sendable (Result<[InterfaceDetails], NetlinkError>) -> Void
    ) {
        self.inspector = inspector
        self.changed = changed
    }

    /// Something may have changed.
    func mayHaveChanged() {
        let clock = inspector.monitor.environment.clock
        let (isPlanned, wait) = state.withLock { ($0.timer != nil, $0.next - clock.monotonic) }
        if isPlanned { return }
        if wait <= .zero { return evaluate() }
        let timer = clock.schedule(after: wait, on: inspector.monitor.queue) { [weak self] in self?.evaluate() }
        state.withLock { $0.timer = timer }
    }

    private func evaluate() {
        let outcome = Outcome { () throws(NetlinkError) in try inspector.interfaces() }
        let next = inspector.monitor.environment.clock.monotonic + Self.pause
        let (isChange, timer) = state.withLock { state in
            defer { state = State(last: outcome, next: next) }
            return (state.last != outcome, state.timer)
        }
        timer?.cancel()
        if isChange { changed(outcome) }
    }
}
