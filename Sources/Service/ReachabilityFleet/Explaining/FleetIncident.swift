package import ReachabilityLedger

/// Something that happened at a site: one thing, with all machines it befell. A value.
package struct FleetIncident: Hashable, Sendable {
    /// What befell one machine. Times are by the hub's clock, since 1970.
    package struct Part: Hashable, Sendable {
        /// Since when it was silent; nil where it never was.
        package var silentSince: Duration?
        /// When it was there again.
        package var returned: Duration?
        package var evidence = SilenceEvidence()
        /// Its own outages by their ids.
        package var outages: [String: OwnOutage] = [:]

        /// Whether it is silent, still tells of what was, or has lost the network.
        package var isOpen: Bool {
            if silentSince != nil, returned == nil || !evidence.isToldWhole { return true }
            return outages.values.contains { $0.end == nil }
        }

        /// Why it was silent; nil where it never was.
        package var verdict: SilenceVerdict? { silentSince == nil ? nil : evidence.verdict }

        /// From when to when it was concerned.
        var start: Duration? { (outages.values.map(\.start) + [silentSince].compactMap(\.self)).min() }
        var end: Duration? { (outages.values.compactMap(\.end) + [returned].compactMap(\.self)).max() }
    }

    /// An outage as the hub's clock sees it.
    package struct OwnOutage: Hashable, Sendable {
        package var told: DeviceOutage
        package var start: Duration
        package var end: Duration?
    }

    package let id: String
    package let site: String
    package internal(set) var parts: [String: Part]
    /// When it was over.
    package internal(set) var end: Duration?

    package var devices: [String] { parts.keys.sorted() }
    package var isOpen: Bool { end == nil }
    package var start: Duration { parts.values.compactMap(\.start).min() ?? .zero }

    /// Whose fault it is: what most of its machines say. What is explained counts before what is not.
    package var fault: (attribution: Attribution, cause: OutageCause?) {
        struct Fault: Hashable { let attribution: Attribution, cause: OutageCause? }
        var votes: [Fault: Int] = [:]
        for part in parts.values {
            let own = Set(part.outages.values.map { Fault(attribution: $0.told.attribution, cause: $0.told.cause) })
            for fault in own { votes[fault, default: 0] += 1 }
            if own.isEmpty, let verdict = part.verdict, let attribution = verdict.attribution {
                votes[Fault(attribution: attribution, cause: verdict.cause), default: 0] += 1
            }
        }
        func weight(_ fault: Fault) -> (Int, Int, String) {
            let rank: Int
            switch fault.attribution {
            case .us: rank = 3
            case .upstream: rank = 2
            case .them: rank = 1
            case .unknown, .up: rank = 0
            }
            return (rank == 0 ? 0 : votes[fault] ?? 0, rank, fault.cause?.rawValue ?? "")
        }
        let first = votes.keys.max { weight($0) < weight($1) }
        return (first?.attribution ?? .unknown, first?.cause)
    }

    /// Whether a machine of it is silent, and nobody knows why.
    package var isUnexplained: Bool { parts.values.contains { $0.verdict == .unexplained } }

    /// Whether nothing was wrong after all: all of its machines slept, or had said that they would go.
    package var isHarmless: Bool {
        parts.values.allSatisfy { $0.outages.isEmpty && ($0.verdict == .sleep || $0.verdict?.word == "planned") }
    }
}
