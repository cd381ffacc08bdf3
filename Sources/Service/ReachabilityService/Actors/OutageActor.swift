import Dispatch
import LinuxPrimitives
import NetworkReachability
package import ReachabilityLedger

/// Who began an outage: the process that took away what the way needed, as far as the kernel says so and it can be trusted. What an
/// outage counts as never depends on it.
package struct OutageActor: Hashable, Sendable {
    /// The outage, by its id.
    package let outage: String
    /// When that began.
    package let start: LedgerInstant
    package let process: ActingProcess

    package init(outage: String, start: LedgerInstant, process: ActingProcess) {
        (self.outage, self.start, self.process) = (outage, start, process)
    }
}

extension Outage {
    /// Whether it began with something that a process can take away, not with a link that went down.
    var mayHaveActor: Bool {
        let state = intervals[0].state
        return state.attribution == .us && [.route, .address, .policy].contains(state.cause)
    }
}

extension ServiceBooks {
    /// So many actors of this run are kept in memory; all are on the disk.
    package static let actorLimit = 1000

    /// Who began an outage of this run, where that is known.
    package func actor(of outage: String) -> ActingProcess? { actors.last { $0.outage == outage }?.process }
}

extension MonitoringService {
    /// Finds out who began the outage of a target that has just begun, soon: a process that has ended is told no more.
    func findActor(of removal: Removal, _ target: String, _ events: [ServiceEvent]) {
        for case .outageBegan(let outage) in events.map(\.kind) where outage.mayHaveActor {
            actorQueue.async { [weak self] in
                guard let self, let process = actorFinder.process(behind: removal) else { return }
                let boot = clock.monitor.boot
                let actor = OutageActor(outage: outage.id, start: outage.start, process: process)
                record { state in [state.books.add(actor, on: target, now: state.line.instant(at: boot))] }
            }
        }
    }
}
