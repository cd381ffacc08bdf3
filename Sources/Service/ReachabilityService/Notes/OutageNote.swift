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
