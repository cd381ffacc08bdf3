import LinuxSupport
package import NetworkDiagnostics
import NetworkReachability
package import ReachabilityLedger

/// A change of the accounts. Events are numbered consecutively.
package struct ServiceEvent: Sendable {
    /// The change.
    package enum Kind: Sendable {
        /// An interval or an outage of the target began, changed or ended.
        case ledger(TargetLedger.Event)
        /// Evidence for the current interval was gathered.
        case explained(EvidenceRecord)
        /// A note was added to an outage.
        case noted(OutageNote)
        /// The process that caused an outage was found.
        case actorFound(OutageActor)
        /// The target sent a push.
        case pushed(Push)
        /// Maintenance was announced or its announcement was replaced.
        case maintenancePlanned(PlannedMaintenance)
        /// Announced maintenance with this name was cancelled or ended early.
        case maintenanceCancelled(String)
        /// The wall clock was stepped by this amount.
        case clockStepped(Duration)
        /// The machine resumed after it had slept for this time.
        case resumed(Duration)
    }

    /// The sequence number: one more than that of the previous event of this run.
    package let number: UInt64
    /// The time at which the service recorded the change.
    package let instant: LedgerInstant
    /// The name of the target; nil for an event of the whole service.
    package let target: String?
    package let kind: Kind
    /// The current or last output interface of packets to the target; nil if no path was seen in this run.
    package var interface: String?
}

/// The steps that explain the state of a target. They are gathered from the kernel shortly after the state began.
package struct EvidenceRecord: Hashable, Sendable {
    /// One step of an explanation, as printed by `reachability why`.
    package struct Step: Hashable, Sendable {
        package let kind: String
        package let state: String
        package let summary: String
        package let remedy: String?
    }

    /// The start of the explained interval.
    package let interval: LedgerInstant
    /// The time of the query.
    package let instant: LedgerInstant
    package let steps: [Step]
}

extension EvidenceRecord.Step {
    package init(_ step: NetworkEvidence.Step) {
        self.init(kind: step.kind.rawValue, state: step.state.rawValue, summary: step.summary, remedy: step.remedy)
    }
}

extension [EvidenceRecord.Step] {
    /// The ASCII record and unit separators. They cannot occur in the fields, because `printable` escapes them.
    private static let (record, unit): (Unicode.Scalar, Unicode.Scalar) = ("\u{1e}", "\u{1f}")

    /// The text that is stored in the history.
    var text: String {
        map {
            [$0.kind, $0.state, $0.summary.printable, $0.remedy?.printable ?? ""].joined(separator: String(Self.unit))
        }
        .joined(separator: String(Self.record))
    }

    /// Parses the text that is stored in the history. Invalid steps are omitted.
    init(text: String) {
        self = text.split(at: Self.record).compactMap { part in
            let fields = part.split(at: Self.unit, omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 4 else { return nil }
            return Element(
                kind: fields[0],
                state: fields[1],
                summary: fields[2],
                remedy: fields[3].isEmpty ? nil : fields[3]
            )
        }
    }
}

/// A note that a user added to an outage.
package struct OutageNote: Hashable, Sendable {
    /// The id of the outage.
    package let outage: String
    /// The start of the outage.
    package let start: LedgerInstant
    package let instant: LedgerInstant
    /// The author: the name of the user, token or client certificate.
    package let author: String
    package let text: String

    /// The maximum length of a text, in Unicode scalars.
    package static let textLimit = 2000
    /// The maximum number of notes on an outage.
    package static let countLimit = 100

    /// Returns a Boolean value that indicates whether a text is a valid note.
    ///
    /// A valid note has 1 to ``textLimit`` Unicode scalars and no control characters except tab and line feed.
    package static func isText(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        return (1...textLimit).contains(scalars.count)
            && scalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f || $0 == "\n" || $0 == "\t" }
    }
}

extension MonitoringService {
    /// Adds a note to an outage. The resulting event is sent to the listeners, one of which stores it.
    @discardableResult
    package func note(_ text: String, by author: String, on outage: Outage) -> OutageNote {
        let now = snapshot.now
        let note = OutageNote(outage: outage.id, start: outage.start, instant: now, author: author, text: text)
        record { state, _ in [state.accounting.add(note, on: outage.target)] }
        return note
    }
}

extension Accounting {
    /// The maximum number of notes of this run in memory. The history stores all of them.
    package static let noteLimit = 1000

    /// Returns the notes of this run on an outage, oldest first.
    package func notes(on outage: String) -> [OutageNote] { notes.filter { $0.outage == outage } }
}
