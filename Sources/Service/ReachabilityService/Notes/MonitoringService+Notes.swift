import LinuxPrimitives
import NetworkReachability
package import ReachabilityLedger

extension MonitoringService {
    /// Writes a note about an outage: it is told, and written down, as everything else is.
    @discardableResult
    package func note(_ text: String, by author: String, on outage: Outage) -> OutageNote {
        let boot = clock.monitor.boot
        let now = state.withLock { $0.line.instant(at: boot) }
        let note = OutageNote(outage: outage.id, start: outage.start, instant: now, author: author, text: text)
        record { state in [state.books.add(note, on: outage.target)] }
        return note
    }
}

extension ServiceBooks {
    /// So many notes of this run are kept in memory; all are on the disk.
    package static let noteLimit = 1000

    /// What was written about an outage in this run, the oldest first.
    package func notes(on outage: String) -> [OutageNote] { notes.filter { $0.outage == outage } }
}
