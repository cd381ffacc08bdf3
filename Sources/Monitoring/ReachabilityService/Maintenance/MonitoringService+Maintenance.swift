import LinuxSupport
import NetworkReachability
import ReachabilityLedger

extension MonitoringService {
    /// Takes these windows of maintenance, and no others, from now on.
    package func setMaintenance(_ windows: [MaintenanceWindow]) {
        state.withLock { $0.maintenance = windows }
        followMaintenance()
    }

    /// Goes by the windows as they are at this moment, and comes again when one of them begins or ends. Nothing is done in between; when the
    /// wall clock was set or the machine slept, this is called again.
    ///
    /// - Parameter change: When one began or ended, if that is why; the books have it at that moment, not at ours.
    func followMaintenance(at change: Duration? = nil) {
        let (boot, real) = (clock.monitor.boot, clock.real())
        record { state in
            let now = state.line.instant(at: boot)
            let late = change.map { max(.zero, real - $0) } ?? .zero
            let moment = change.map { max($0, real) } ?? real
            let lasting = Self.windows(state).filter { $0.contains(moment) }
            let targets = state.books.targets.filter { target in lasting.contains { $0.concerns(target) } }
            return state.books.setMaintenance(of: Set(targets), at: now - late, now: now)
        }
        let next = state.withLock { Self.windows($0) }.compactMap { $0.change(after: max(change ?? real, real)) }.min()
        let timer = next.map { next in
            clock.monitor.schedule(after: next - real, on: eventQueue) { [weak self] in
                self?.followMaintenance(at: next)
            }
        }
        let previous = state.withLock { state in
            let previous = state.maintenanceTimer
            state.maintenanceTimer = timer
            return previous
        }
        previous?.cancel()
    }

    /// Those of the configuration, and those that were announced.
    private static func windows(_ state: State) -> [MaintenanceWindow] {
        state.maintenance + state.planned.values.map(\.window)
    }
}
