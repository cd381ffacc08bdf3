import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability

/// The time of a recording.
struct PlayedClock: MonitorClock {
    private let player: Player

    init(_ player: Player) {
        self.player = player
    }

    var monotonic: Duration { player.state.withLock { $0.monotonic() } }
    var boot: Duration { player.state.withLock { $0.boot() } }

    func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let action = OneShot(action)
        player.state.withLock { $0.wait(action, .schedule, max(.zero, delay)) }
        return Cancellation { action.cancel() }
    }

    func soon(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        let action = OneShot(action)
        player.state.withLock { $0.wait(action, .soon, .zero) }
    }

    func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        let player = player
        return player.state.withLock { state in
            guard state.take(RecordedQuestion(.watchesSleep))?.answer != [0] else { return nil }
            state.woke = action
            return Cancellation { player.state.withLock { $0.woke = nil } }
        }
    }
}
