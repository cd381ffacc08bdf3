import ReachabilityLedger

/// A time in which nothing was heard of a machine, and what is known of it. Times are by the hub's clock, since 1970.
package struct DeviceGap: Hashable, Sendable {
    /// When it was last heard of.
    package let since: Duration
    /// When it was known to be away. It went between the two.
    package let noticed: Duration
    /// When it was heard of again; nil while it is away.
    package var until: Duration?
    package var evidence = SilenceEvidence()
    /// Whether nobody waits any more for what the machine tells of it: it has had time.
    package var isGivenUp = false

    package init(since: Duration, noticed: Duration) {
        (self.since, self.noticed) = (min(since, noticed), noticed)
    }

    /// Whether it has passed, and as much is known of it as there will be, or it was meant to be.
    package var isOver: Bool {
        if evidence.planned || evidence.saidSleep { return true }
        return until != nil && (evidence.isToldWhole || isGivenUp)
    }

    /// Whether the machine is back and may still tell why it was away.
    package var isAwaited: Bool { until != nil && !evidence.isToldWhole && !isGivenUp }

    /// So many outages are looked at.
    private static let outageLimit = 256

    /// Takes what the machine tells of an outage into account, if that can explain it.
    ///
    /// - Parameter end: When that ended, by the hub's clock.
    package mutating func consider(_ outage: DeviceOutage, end: Duration?) {
        guard outage.attribution == .us || outage.attribution == .upstream else { return }
        if let end, end < since - FleetIncidentBook.closeness { return }
        if let index = evidence.outages.firstIndex(where: { $0.id == outage.id }) {
            evidence.outages[index] = outage
        } else if evidence.outages.count < Self.outageLimit {
            evidence.outages.append(outage)
        }
    }
}
