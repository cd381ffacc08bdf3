import LinuxSupport
import NetworkReachability

/// The results of segment rounds for targets that are checked again and again. A round takes up to five packets, so it is not made with each
/// check. Thread-safe.
final class SegmentMemory: Sendable {
    private struct Entry {
        var results: [ProbeResult] = []
        /// When the next round is due.
        var expiry: ContinuousClock.Instant
    }

    private let entries = Locked<[IPAddress: Entry]>([:])

    /// When the next round may begin, of all in the process.
    private static let next = Locked(ContinuousClock.now)
    /// The time between the beginnings of two rounds. Rounds that are due earlier wait for a later check of their target.
    private static let pace = Duration.milliseconds(100)
    /// How long a result remains valid.
    private static let lifetime = Duration.seconds(600)
    /// How long the loss of large packets remains valid, so that its end is noticed.
    private static let lifetimeOfLoss = Duration.seconds(60)
    /// The maximum number of addresses. Beyond it, results that are no longer valid are dropped.
    private static let countLimit = 4096

    /// Returns the results for a target that answers, from memory or by a new round. The first check of a target that answers makes none, so
    /// that it reports at once that the target is back.
    func results(of evidence: CheckEvidence, _ site: CheckSite) async -> [ProbeResult] {
        guard let address = SegmentRound.address(of: evidence, site) else { return [] }
        let now = ContinuousClock.now
        let (known, isDue) = entries.withLock { entries -> ([ProbeResult], Bool) in
            guard let entry = entries[address] else {
                if entries.count >= Self.countLimit { entries = entries.filter { $0.value.expiry > now } }
                entries[address] = Entry(expiry: now)
                return ([], false)
            }
            guard entry.expiry <= now, Self.begins(at: now) else { return (entry.results, false) }
            // Others that check the same address do not begin one, too.
            entries[address]?.expiry = now + .seconds(5)
            return (entry.results, true)
        }
        guard isDue, let round = SegmentRound(to: address, site) else { return known }
        let results = await round.run()
        guard !Task.isCancelled else { return known }
        let isLost = results.contains { $0.outcome == .answered } && results.contains { $0.outcome == .silent }
        entries.withLock { entries in
            // Forgotten meanwhile: the network has changed.
            guard entries[address] != nil else { return }
            let lifetime = isLost ? Self.lifetimeOfLoss : Self.lifetime
            entries[address] = Entry(results: results.map(\.withoutCost), expiry: .now + lifetime)
        }
        return results
    }

    /// The network has changed.
    func forget() { entries.withLock { $0 = [:] } }

    private static func begins(at now: ContinuousClock.Instant) -> Bool {
        next.withLock { next in
            guard next <= now else { return false }
            next = now + pace
            return true
        }
    }
}

extension ProbeResult {
    /// The result without its packets, which were counted already.
    fileprivate var withoutCost: ProbeResult {
        var result = self
        result.cost = ProbeCost()
        return result
    }
}
