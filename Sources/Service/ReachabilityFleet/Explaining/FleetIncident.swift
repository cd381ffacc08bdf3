package import ReachabilityLedger

/// Something that happened at a site: one thing, with all machines it befell. A value; times are by the hub's clock, since 1970.
package struct FleetIncident: Hashable, Sendable {
    /// What befell one machine.
    package struct Part: Hashable, Sendable {
        /// Since when it was silent for the first time; nil where it never was.
        package var silentSince: Duration?
        /// Its silence, of several the last.
        package var gap: DeviceGap?
        /// Its own outages by their ids.
        package var outages: [String: OwnOutage] = [:]

        package init() {}

        /// Whether it is silent, still tells of what was, or has lost the network.
        package var isOpen: Bool {
            gap.map { !$0.isOver } ?? false || outages.values.contains { $0.end == nil }
        }

        /// From when to when it was concerned.
        var start: Duration? { (outages.values.map(\.start) + [silentSince].compactMap(\.self)).min() }
        var end: Duration? { (outages.values.compactMap(\.end) + [gap?.until].compactMap(\.self)).max() }
    }

    /// An outage as the hub's clock sees it.
    package struct OwnOutage: Hashable, Sendable {
        package var told: DeviceOutage
        package var start: Duration
        package var end: Duration?
        /// The boot in which it was told; nil where that was not known.
        package var boot: String?

        package init(told: DeviceOutage, start: Duration, end: Duration?, boot: String? = nil) {
            (self.told, self.start, self.end, self.boot) = (told, start, end, boot)
        }

        /// Whether it lasts as far as is known, and a machine that is of another boot now does not know of it any more.
        func isForgotten(in boot: String) -> Bool { end == nil && self.boot.map { $0 != boot } ?? false }
    }

    package let id: String
    package let site: String
    package private(set) var parts: [String: Part] = [:]
    /// When its first machine was concerned.
    package private(set) var start: Duration
    /// When it began for one machine after the other: what begins close to it belongs to it.
    private(set) var onset: ClosedRange<Duration>
    /// When the silences were noticed, in order.
    private var falls: [Duration] = []
    private var openCount = 0
    private var latest: Duration?

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
    package var end: Duration? { isOpen ? nil : max(latest ?? start, start) }

    /// Why a machine was silent; nil where it never was.
    package func verdict(of device: String) -> SilenceVerdict? {
        guard let gap = parts[device]?.gap else { return nil }
        var evidence = gap.evidence
        let closeness = FleetIncidentBook.closeness
        evidence.neighbours = falls(from: gap.noticed - closeness, to: gap.noticed + closeness) - 1
        return evidence.verdict
    }

    /// Whose fault it is: what most of its machines say. What is explained counts before what is not.
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

    /// Whether a machine of it is silent, and nobody knows why.
    package var isUnexplained: Bool { parts.keys.contains { verdict(of: $0) == .unexplained } }

    /// Whether nothing was wrong after all: all of its machines slept, or had said that they would go.
    package var isHarmless: Bool {
        parts.allSatisfy { device, part in
            part.outages.isEmpty && verdict(of: device).map { $0.attribution == nil } ?? true
        }
    }

    // MARK: What becomes of it

    /// Changes what befell a machine. What follows for the whole is counted on, for a site may have thousands of machines.
    ///
    /// - Returns: Whether it is something else now.
    @discardableResult mutating func change(_ device: String, _ body: (inout Part) -> Void) -> Bool {
        let before = parts[device]
        var part = before ?? Part()
        body(&part)
        guard part != before else { return false }
        parts[device] = part
        openCount += (part.isOpen ? 1 : 0) - (before?.isOpen ?? false ? 1 : 0)
        if before?.gap?.noticed != part.gap?.noticed {
            if let noticed = before?.gap?.noticed { falls.remove(at: index(of: noticed)) }
            if let noticed = part.gap?.noticed { falls.insert(noticed, at: index(of: noticed)) }
            if let gap = part.gap { extend(to: gap.since...gap.noticed) }
        }
        for (id, outage) in part.outages where before?.outages[id] == nil { extend(to: outage.start...outage.start) }
        start = min(start, part.start ?? start)
        if let end = part.end { latest = max(latest ?? end, end) }
        return true
    }

    /// Lets go of a machine and what befell it. When it all began stays as it was seen.
    mutating func forget(_ device: String) {
        guard let part = parts.removeValue(forKey: device) else { return }
        if part.isOpen { openCount -= 1 }
        if let noticed = part.gap?.noticed { falls.remove(at: index(of: noticed)) }
    }

    private mutating func extend(to range: ClosedRange<Duration>) {
        onset = min(onset.lowerBound, range.lowerBound)...max(onset.upperBound, range.upperBound)
    }

    /// How many fell within a time, both ends included.
    private func falls(from start: Duration, to end: Duration) -> Int {
        index(of: end + .nanoseconds(1)) - index(of: start)
    }

    /// Where the first is that is not earlier.
    private func index(of time: Duration) -> Int {
        var (low, high) = (0, falls.count)
        while low < high {
            let middle = (low + high) / 2
            if falls[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
