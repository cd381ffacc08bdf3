import LinuxSupport
package import NetworkDiagnostics
package import ReachabilityLedger

/// Why a target was in a state, step by step, as the kernel said it when the state was new.
package struct EvidenceRecord: Hashable, Sendable {
    /// A link of the chain, as `reachability why` prints it.
    package struct Step: Hashable, Sendable {
        package let kind: String
        package let state: String
        package let summary: String
        package let remedy: String?
    }

    /// When the interval began that it explains.
    package let interval: LedgerInstant
    /// When the kernel was asked.
    package let instant: LedgerInstant
    package let steps: [Step]

    package init(interval: LedgerInstant, instant: LedgerInstant, steps: [Step]) {
        (self.interval, self.instant, self.steps) = (interval, instant, steps)
    }
}

extension EvidenceRecord.Step {
    package init(_ step: NetworkEvidence.Step) {
        self.init(kind: step.kind.rawValue, state: step.state.rawValue, summary: step.summary, remedy: step.remedy)
    }
}

extension [EvidenceRecord.Step] {
    /// The separators of ASCII for records and units: no name of an interface has them, and what is printed has them escaped.
    private static let (record, unit): (Unicode.Scalar, Unicode.Scalar) = ("\u{1e}", "\u{1f}")

    /// As one text, for the file.
    var text: String {
        map {
            [$0.kind, $0.state, $0.summary.printable, $0.remedy?.printable ?? ""].joined(separator: String(Self.unit))
        }
        .joined(separator: String(Self.record))
    }

    /// What a file has; steps that make no sense are left out.
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
