import Dispatch
import LinuxSupport
import NetworkReachability
package import ReachabilityLedger

/// Who began an outage, or an interval inside one: the process that took away what the way needed, as far as the kernel says so and it can be
/// trusted. What an outage counts as never depends on it.
package struct OutageActor: Hashable, Sendable {
    /// The outage, by its id.
    package let outage: String
    /// When that began.
    package let start: LedgerInstant
    /// When the interval began that the process made: the first of the outage, or a later one.
    package let interval: LedgerInstant
    package let process: ActingProcess

    /// What it is found by: the id of the outage, and for a later interval its beginning behind it.
    package var key: String { Self.key(of: interval, outage, start) }

    fileprivate static func key(of interval: LedgerInstant, _ outage: String, _ start: LedgerInstant) -> String {
        interval == start ? outage : "\(outage)/\(String(interval.nanoseconds, radix: 36))"
    }
}

extension Outage {
    /// What the actor of each interval is found by that may have one.
    package var actorKeys: [(interval: LedgerInstant, key: String)] {
        intervals.filter(\.mayHaveActor).map { ($0.start, OutageActor.key(of: $0.start, id, start)) }
    }
}

extension LedgerInterval {
    /// Whether it began with something that a process can take away, not with a link that went down.
    fileprivate var mayHaveActor: Bool {
        state.attribution == .us && [.route, .address, .policy].contains(state.cause)
    }
}

extension ServiceBooks {
    /// So many actors of this run are kept in memory; all are on the disk.
    package static let actorLimit = 1000

    /// Who is known in this run, by their keys.
    package var actorsByKey: [String: ActingProcess] {
        Dictionary(actors.map { ($0.key, $0.process) }) { _, last in last }
    }

    /// Who is known in this run of an outage, by the beginnings of its intervals.
    package func actors(of outage: String) -> [LedgerInstant: ActingProcess] {
        let own = actors.lazy.filter { $0.outage == outage }
        return Dictionary(own.map { ($0.interval, $0.process) }) { _, last in last }
    }
}

extension MonitoringService {
    /// Finds out who began the interval of an outage that has just begun, soon: a process that has ended is told no more.
    func findActor(of removal: Removal, _ target: String, _ events: [ServiceEvent]) {
        for event in events {
            let outage: Outage
            switch event.kind {
            case .outageBegan(let began): outage = began
            case .outageRefined(let refined): outage = refined
            default: continue
            }
            guard let interval = outage.intervals.last, interval.mayHaveActor else { continue }
            actorQueue.async { [weak self] in
                guard let self, let process = actorFinder.process(behind: removal) else { return }
                let boot = clock.monitor.boot
                let actor = OutageActor(
                    outage: outage.id,
                    start: outage.start,
                    interval: interval.start,
                    process: process
                )
                record { state in [state.books.add(actor, on: target, now: state.line.instant(at: boot))] }
            }
        }
    }
}
