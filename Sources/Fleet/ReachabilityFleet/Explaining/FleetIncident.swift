package import ReachabilityLedger

/// An incident at a site, with all affected machines. Machines of other sites belong to it if they cannot reach the same
/// target. A value. Times are by the hub's clock, since 1970.
package struct FleetIncident: Hashable, Sendable {
    /// The part of an incident that affects one machine.
    package struct Part: Hashable, Sendable {
        /// The first time at which the machine was silent; nil if it never was.
        package var silentSince: Duration?
        /// The silence of the machine. If there were several, the last one.
        package var gap: DeviceAbsence?
        /// The outages that the machine itself reported, by their ids.
        package var outages: [String: ReportedOutage] = [:]

        package init() {}

        /// True if the machine is silent, may still report past events, or has an outage.
        package var isOpen: Bool {
            gap.map { !$0.isOver } ?? false || outages.values.contains { $0.end == nil }
        }

        /// The time at which the incident began for the machine. If an outage of the machine explains its silence, the
        /// outage counts, because the last message of the machine arrived some time before it. The start is then at the
        /// latest the time at which the hub noticed the silence.
        var start: Duration? {
            let own = outages.values.map(\.start).min()
            if isExplainedByOutage, let own, let gap { return min(own, gap.noticed) }
            return [own, silentSince].compactMap(\.self).min()
        }

        /// The time at which the incident ended for the machine. If an outage explains the silence, the end of the
        /// outage counts, because the machine reconnects some time after it.
        var end: Duration? {
            let own = outages.values.compactMap(\.end).max()
            if isExplainedByOutage, let own, let until = gap?.until, until - own <= Self.longestReturn { return own }
            return [own, gap?.until].compactMap(\.self).max()
        }

        /// The maximum time from the end of an outage until the next message of the machine. It is the sum of the
        /// maximum delay between two connection attempts, its jitter, and the duration of an attempt.
        private static let longestReturn: Duration = .seconds(90)

        /// True if the machine was silent, or reported an outage that is not the failure of a target.
        var isLocal: Bool { gap != nil || outages.values.contains { $0.failedTarget == nil } }

        /// The targets whose failure the machine has reported.
        var failedTargets: Set<String> { Set(outages.values.lazy.compactMap(\.failedTarget)) }

        /// Whether an outage of the machine explains its silence.
        package var isExplainedByOutage: Bool {
            if case .outage = gap?.evidence.verdict { true } else { false }
        }

        /// Whether an outage belongs to this incident of the machine: it overlaps the silence, or it began soon after
        /// another outage of this incident. An outage after a healthy pause belongs to another incident.
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

    /// An outage that a machine reported, with its times converted to the hub's clock.
    package struct ReportedOutage: Hashable, Sendable {
        /// The outage as the machine reported it, with times by the clock of the machine.
        package var reported: DeviceOutage
        package var start: Duration
        package var end: Duration?
        /// The boot id of the machine at the report; nil if it is not known.
        package var boot: String?

        /// The target, if the outage is its failure; nil otherwise.
        var failedTarget: String? { reported.attribution == .them ? reported.target : nil }

        /// True if the outage has no end although the machine has booted since. The machine has then lost its record of
        /// the outage.
        func isForgotten(in boot: String) -> Bool { end == nil && self.boot.map { $0 != boot } ?? false }
    }

    package let id: String
    /// The site of the first affected machine.
    package let site: String
    /// The sites of the affected machines.
    package private(set) var sites: Set<String> = []
    /// The parts of the machines by their keys. The key of a machine of ``site`` is its name, and the key of any other
    /// machine is `SITE/DEVICE`.
    package private(set) var parts: [String: Part] = [:]
    /// The time at which the first machine was affected.
    package private(set) var start: Duration
    /// The range of the times at which machines were first affected. A silence or an outage close to this range belongs
    /// to the incident.
    private(set) var onset: ClosedRange<Duration>
    /// The times at which silences were noticed.
    private var silences = SortedTimes()
    /// The start and the end for each machine.
    private var (starts, ends) = (SortedTimes(), SortedTimes())
    /// The earliest start for machines that were removed.
    private var forgottenStart: Duration?
    private var openCount = 0
    /// The number of parts with a fault that is not the failure of a target.
    private var localCount = 0
    /// The number of parts with a failure of each target.
    private var targets: [String: Int] = [:]

    package init(id: String, site: String, start: Duration) {
        (self.id, self.site, self.start) = (id, site, start)
        onset = start...start
    }

    /// Creates an incident that was read from the store.
    package init(id: String, site: String, start: Duration, parts: [String: Part]) {
        self.init(id: id, site: site, start: start)
        for (device, part) in parts { change(device) { $0 = part } }
    }

    /// The keys of the affected machines, sorted.
    package var devices: [String] { parts.keys.sorted() }
    /// True if the incident affects machines of several sites.
    package var isShared: Bool { sites.count > 1 }

    /// Returns the key of a machine in ``parts``.
    package func key(of place: DeviceID) -> String { place.site == site ? place.device : place.description }

    /// Returns the machine with a key of ``parts``.
    package func place(of key: String) -> DeviceID? {
        key.contains("/") ? DeviceID(key) : DeviceID(site: site, device: key)
    }

    func part(of place: DeviceID) -> Part? { parts[key(of: place)] }

    package var isOpen: Bool { openCount > 0 }
    /// The time at which the incident ended; nil while it is open.
    package var end: Duration? { isOpen ? nil : max(ends.last ?? start, start) }

    /// Returns the reason of the silence of a machine; nil if the machine was never silent.
    package func verdict(of device: String) -> SilenceVerdict? {
        guard let gap = parts[device]?.gap else { return nil }
        var evidence = gap.evidence
        let closeness = FleetIncidentTracker.closeness
        evidence.neighbours = silences.count(from: gap.noticed - closeness, to: gap.noticed + closeness) - 1
        return evidence.verdict
    }

    /// The most frequent attribution and cause among the affected machines. Known attributions have precedence over
    /// `unknown`. If the numbers are equal, `us` precedes `upstream`, and `upstream` precedes `them`.
    package var fault: (attribution: Attribution, cause: OutageCause?) {
        struct Fault: Hashable { let attribution: Attribution, cause: OutageCause? }
        var votes: [Fault: Int] = [:]
        for (device, part) in parts {
            let own = Set(
                part.outages.values.map { Fault(attribution: $0.reported.attribution, cause: $0.reported.cause) }
            )
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

    /// The target whose failure most machines have reported; nil if none has reported one.
    package var target: String? {
        var votes: [String: Int] = [:]
        for part in parts.values {
            for target in part.failedTargets { votes[target, default: 0] += 1 }
        }
        return votes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    /// Whether an outage of a machine is the failure of a target that most machines of this incident have reported at
    /// about the same time.
    func isFailure(of target: String, _ start: Duration, _ end: Duration?, at place: DeviceID) -> Bool {
        guard targets[target] != nil, localCount * 2 < parts.count else { return false }
        if let part = part(of: place) { return part.touches(start, end) }
        let (spread, pause) = (FleetIncidentTracker.spread, FleetIncidentTracker.pause)
        return start <= self.start + spread && self.start <= start + spread
            && self.end.map { start <= $0 + pause } ?? true && end.map { self.start <= $0 + pause } ?? true
    }

    /// Whether at least one machine is silent for an unknown reason.
    package var isUnexplained: Bool { parts.keys.contains { verdict(of: $0) == .unexplained } }

    /// True if the incident has no fault: each machine slept, announced its absence, or was not observed.
    package var isHarmless: Bool {
        parts.allSatisfy { device, part in
            part.outages.isEmpty && verdict(of: device).map { $0.attribution == nil } ?? true
        }
    }

    // MARK: Changes

    /// Changes the part of the machine with a key. Sums are updated incrementally, because a site may have thousands of machines.
    ///
    /// - Returns: True if the part has changed.
    @discardableResult mutating func change(_ device: String, _ body: (inout Part) -> Void) -> Bool {
        let before = parts[device]
        var part = before ?? Part()
        body(&part)
        guard part != before else { return false }
        parts[device] = part
        if before == nil, let place = place(of: device) { sites.insert(place.site) }
        openCount += (part.isOpen ? 1 : 0) - (before?.isOpen ?? false ? 1 : 0)
        localCount += (part.isLocal ? 1 : 0) - (before?.isLocal ?? false ? 1 : 0)
        count(part.failedTargets, 1)
        if let before { count(before.failedTargets, -1) }
        if before?.gap?.noticed != part.gap?.noticed {
            silences.replace(before?.gap?.noticed, by: part.gap?.noticed)
            if let gap = part.gap { extend(to: gap.since...gap.noticed) }
        }
        for (id, outage) in part.outages where before?.outages[id] == nil { extend(to: outage.start...outage.start) }
        starts.replace(before?.start, by: part.start)
        ends.replace(before?.end, by: part.end)
        start = [starts.first, forgottenStart].compactMap(\.self).min() ?? start
        return true
    }

    /// Removes a machine. The start of the incident does not change.
    mutating func forget(_ place: DeviceID) {
        guard let part = parts.removeValue(forKey: key(of: place)) else { return }
        sites = Set(parts.keys.compactMap { self.place(of: $0)?.site })
        if part.isOpen { openCount -= 1 }
        if part.isLocal { localCount -= 1 }
        count(part.failedTargets, -1)
        forgottenStart = [forgottenStart, part.start].compactMap(\.self).min()
        silences.replace(part.gap?.noticed, by: nil)
        starts.replace(part.start, by: nil)
    }

    private mutating func count(_ failed: Set<String>, _ change: Int) {
        for target in failed {
            let sum = targets[target, default: 0] + change
            targets[target] = sum > 0 ? sum : nil
        }
    }

    private mutating func extend(to range: ClosedRange<Duration>) {
        onset = min(onset.lowerBound, range.lowerBound)...max(onset.upperBound, range.upperBound)
    }
}

/// Sorted times. Only the first time, the last time and the number of times within a range are required.
private struct SortedTimes: Hashable, Sendable {
    private var times: [Duration] = []

    var first: Duration? { times.first }
    var last: Duration? { times.last }

    mutating func replace(_ old: Duration?, by new: Duration?) {
        if old == new { return }
        if let old { times.remove(at: index(of: old)) }
        if let new { times.insert(new, at: index(of: new)) }
    }

    /// Returns the number of times within a range, both ends included.
    func count(from start: Duration, to end: Duration) -> Int { index(of: end + .nanoseconds(1)) - index(of: start) }

    /// Returns the index of the first time that is not before the given time.
    private func index(of time: Duration) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
