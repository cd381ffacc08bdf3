import LinuxSupport
import NetworkReachability
package import ReachabilityLedger

/// What somebody wrote about an outage, for those who read of it later.
package struct OutageNote: Hashable, Sendable {
    /// The outage, by its id.
    package let outage: String
    /// When that began.
    package let start: LedgerInstant
    /// When it was written.
    package let instant: LedgerInstant
    /// Who wrote it, as the service knows them.
    package let author: String
    package let text: String

    /// So many scalars of Unicode a text has at most.
    package static let textLimit = 2000
    /// So many notes an outage has at most.
    package static let countLimit = 100

    package init(outage: String, start: LedgerInstant, instant: LedgerInstant, author: String, text: String) {
        (self.outage, self.start, self.instant, self.author, self.text) = (outage, start, instant, author, text)
    }

    /// Whether a text may be a note: not empty, not too long, and without control characters but tabulators and ends of lines.
    package static func isText(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        return (1...textLimit).contains(scalars.count)
            && scalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f || $0 == "\n" || $0 == "\t" }
    }
}

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
