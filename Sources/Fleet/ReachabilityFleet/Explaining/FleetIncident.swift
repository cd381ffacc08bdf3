package import ReachabilityLedger

/// An incident at a site, with all affected machines. A value. Times are of the hub's clock, since 1970.
package struct FleetIncident: Hashable, Sendable {
    /// The part of one machine.
    package struct Part: Hashable, Sendable {
        /// Since when it was silent for the first time; nil where it never was.
        package var silentSince: Duration?
        /// Its silence, of several the last.
        package var gap: DeviceGap?
        /// Its own outages by their ids.
        package var outages: [String: OwnOutage] = [:]

        package init() {}

        /// Whether the machine is silent, still reports past events, or has an outage.
        package var isOpen: Bool {
            gap.map { !$0.isOver } ?? false || outages.values.contains { $0.end == nil }
        }

        /// When it began for the machine. The machine's own outage that explains its silence counts before the silence: the machine was last
        /// heard some time before the outage, at the latest when it was missed.
        var start: Duration? {
            let own = outages.values.map(\.start).min()
            if isExplainedByOutage, let own, let gap { return min(own, gap.noticed) }
            return [own, silentSince].compactMap(\.self).min()
        }

        /// When it was over for the machine. A machine connects some time after its outage has ended.
        var end: Duration? {
            let own = outages.values.compactMap(\.end).max()
            if isExplainedByOutage, let own, let until = gap?.until, until - own <= Self.longestReturn { return own }
            return [own, gap?.until].compactMap(\.self).max()
        }

        /// The longest time from the end of an outage until the machine is heard again: the longest wait between two attempts to connect, its
        /// jitter, and the attempt.
        private static let longestReturn: Duration = .seconds(90)

        /// Whether the machine was silent because of an outage of its own.
        package var isExplainedByOutage: Bool {
            if case .outage = gap?.evidence.verdict { true } else { false }
        }

        /// Whether an outage belongs to what happened to the machine here: it overlaps the silence, or began soon after the first outage. If
        /// the machine was well in between, it is another incident.
        func touches(_ start: Duration, _ end: Duration?) -> Bool {
            func overlaps(_ other: (start: Duration, end: Duration?)) -> Bool {
                let isAfter = other.end.map { start > $0 + FleetIncidentTracker.pause } ?? false
                let isBefore = end.map { $0 + FleetIncidentTracker.pause < other.start } ?? false
                return !isAfter && !isBefore
            }
            return gap.map { overlaps(($0.since, $0.until)) } ?? false
                || outages.values.contains {
                    start <= $0.start + FleetIncidentTracker.closeness && overlaps(($0.start, $0.end))
                }
        }
    }

    /// An outage as the hub's clock sees it.
    package struct OwnOutage: Hashable, Sendable {
        package var told: DeviceOutage
        package var start: Duration
        package var end: Duration?
        /// The boot of the report; nil if it is not known.
        package var boot: String?

        package init(told: DeviceOutage, start: Duration, end: Duration?, boot: String? = nil) {
            (self.told, self.start, self.end, self.boot) = (told, start, end, boot)
        }

        /// Whether the outage seems to last, though the machine has booted since and has no record of it.
        func isForgotten(in boot: String) -> Bool { end == nil && self.boot.map { $0 != boot } ?? false }
    }

    package let id: String
    package let site: String
    package private(set) var parts: [String: Part] = [:]
    /// When its first machine was concerned.
    package private(set) var start: Duration
    /// When it began for one machine after the other: what begins close to it belongs to it.
    private(set) var onset: ClosedRange<Duration>
    /// When the silences were noticed.
    private var falls = SortedTimes()
    /// When it began and ended for each machine.
    private var (starts, ends) = (SortedTimes(), SortedTimes())
    /// When it began for machines that are forgotten.
    private var forgottenStart: Duration?
    private var openCount = 0

    package init(id: String, site: String, start: Duration) {
        (self.id, self.site, self.start) = (id, site, start)
        onset = start...start
    }

    /// One that was written down.
    package init(id: String, site: String, start: Duration, parts: [String: Part]) {
        self.init(id: id, site: site, start: start)
        for (device, part) in parts { change(device) { $0 = part } }
    }

    package var devices: [String] { parts.keys.sorted() }
    package var isOpen: Bool { openCount > 0 }
    /// When it was over; nil while it lasts.
    package var end: Duration? { isOpen ? nil : max(ends.last ?? start, start) }

    /// Why a machine was silent; nil where it never was.
    package func verdict(of device: String) -> SilenceVerdict? {
        guard let gap = parts[device]?.gap else { return nil }
        var evidence = gap.evidence
        let closeness = FleetIncidentTracker.closeness
        evidence.neighbours = falls.count(from: gap.noticed - closeness, to: gap.noticed + closeness) - 1
        return evidence.verdict
    }

    /// The attribution of most machines. Explained machines have precedence.
    package var fault: (attribution: Attribution, cause: OutageCause?) {
        struct Fault: Hashable { let attribution: Attribution, cause: OutageCause? }
        var votes: [Fault: Int] = [:]
        for (device, part) in parts {
            let own = Set(part.outages.values.map { Fault(attribution: $0.told.attribution, cause: $0.told.cause) })
            for fault in own { votes[fault, default: 0] += 1 }
            if own.isEmpty, let verdict = verdict(of: device), let attribution = verdict.attribution {
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

    /// Whether a machine is silent for an unknown reason.
    package var isUnexplained: Bool { parts.keys.contains { verdict(of: $0) == .unexplained } }

    /// Whether nothing was wrong after all: all of its machines slept, or had said that they would go.
    package var isHarmless: Bool {
        parts.allSatisfy { device, part in
            part.outages.isEmpty && verdict(of: device).map { $0.attribution == nil } ?? true
        }
    }

    // MARK: What becomes of it

    /// Changes the part of a machine. Sums are updated incrementally, because a site may have thousands of machines.
    ///
    /// - Returns: Whether the part has changed.
    @discardableResult mutating func change(_ device: String, _ body: (inout Part) -> Void) -> Bool {
        let before = parts[device]
        var part = before ?? Part()
        body(&part)
        guard part != before else { return false }
        parts[device] = part
        openCount += (part.isOpen ? 1 : 0) - (before?.isOpen ?? false ? 1 : 0)
        if before?.gap?.noticed != part.gap?.noticed {
            falls.replace(before?.gap?.noticed, by: part.gap?.noticed)
            if let gap = part.gap { extend(to: gap.since...gap.noticed) }
        }
        for (id, outage) in part.outages where before?.outages[id] == nil { extend(to: outage.start...outage.start) }
        starts.replace(before?.start, by: part.start)
        ends.replace(before?.end, by: part.end)
        start = [starts.first, forgottenStart].compactMap(\.self).min() ?? start
        return true
    }

    /// Removes a machine. The start of the incident does not change.
    mutating func forget(_ device: String) {
        guard let part = parts.removeValue(forKey: device) else { return }
        if part.isOpen { openCount -= 1 }
        forgottenStart = [forgottenStart, part.start].compactMap(\.self).min()
        falls.replace(part.gap?.noticed, by: nil)
        starts.replace(part.start, by: nil)
    }

    private mutating func extend(to range: ClosedRange<Duration>) {
        onset = min(onset.lowerBound, range.lowerBound)...max(onset.upperBound, range.upperBound)
    }
}

/// Sorted times. Only the first, the last and the number within a range are needed.
private struct SortedTimes: Hashable, Sendable {
    private var times: [Duration] = []

    var first: Duration? { times.first }
    var last: Duration? { times.last }

    mutating func replace(_ old: Duration?, by new: Duration?) {
        if old == new { return }
        if let old { times.remove(at: index(of: old)) }
        if let new { times.insert(new, at: index(of: new)) }
    }

    /// The number of times within a range, both ends included.
    func count(from start: Duration, to end: Duration) -> Int { index(of: end + .nanoseconds(1)) - index(of: start) }

    /// The place of the first time that is not earlier.
    private func index(of time: Duration) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
