import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Returns the availability of one target, or of each target.
    func availability(_ query: Query) throws(Problem) -> Page {
        let snapshot = service.snapshot
        let window = try query.duration("window")
        let to = try query.instant("to", snapshot.calendar) ?? snapshot.now
        let from = try query.instant("from", snapshot.calendar) ?? (to - (window ?? .seconds(30 * 86400)))
        if window != nil, query.text("from") != nil {
            throw Problem(.badRequest, "window and from cannot be combined")
        }
        guard from < to, to <= snapshot.now else {
            throw Problem(.badRequest, "from must be before to, and to must not be in the future")
        }
        let target = query.placeholders["name"] ?? query.text("target")
        if let target { try checkTarget(target, snapshot) }
        let targets = target.map { [$0] } ?? snapshot.accounting.targets
        return try Page(of: targets, query, key: \.self, isAfter: >) { target throws(Problem) in
            try query.checkClient()
            let times = try times(of: target, from: from, to: to, snapshot)
            return snapshot.item(of: times.availability, target: target, times.basis)
        }
    }
}

/// The states of a target within a window, as intervals and sums of days.
struct TargetTimes {
    let from: LedgerInstant
    let to: LedgerInstant
    /// The intervals, earliest first, without overlaps.
    var intervals: [LedgerInterval]
    /// The sums of days, earliest first. They do not include the time of ``intervals``.
    var days: [SettledDay]
    var basis: AttributionBasis

    /// The availability within the window.
    var availability: Availability {
        var availability = Availability(of: intervals, from: from, to: to)
        availability.add(days)
        return availability
    }

    /// The intervals for a chart. Within a day of which only sums are kept, the lengths are exact but the order is arbitrary.
    var picture: [LedgerInterval] {
        var rest = intervals[...]
        return intervals
            + days.flatMap { day in
                rest = rest.drop { $0.end.map { $0 <= day.start } ?? false }
                let known = rest.prefix { $0.start < day.start + SettledDay.length }
                return day.shares(around: known, until: to)
            }
    }
}

extension API {
    /// Returns the states of a target within a window.
    ///
    /// Sums of days are used instead of intervals where they exist, so that a year takes no longer than a month.
    ///
    /// - Parameter limit: If the window has at most this number of intervals, each is read, because intervals have exact times.
    func times(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        exactUpTo limit: Int = 0,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> TargetTimes {
        try reading { try knownTimes(of: target, from: from, to: to, exactUpTo: limit, snapshot) }
    }

    private func knownTimes(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        exactUpTo limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws -> TargetTimes {
        let store = history?.store
        // Only whole days have sums.
        let summed = try store?.settledWindow(of: target, from: from, to: to)
        var days = try store.map { try daySums.days($0, of: target, from: from, to: to, summed, snapshot) } ?? []
        var intervals: [LedgerInterval]?
        if let summed, limit > 0, try store?.hasMoreIntervals(of: target, from: from, to: to, than: limit) != true {
            let all = try reader.intervals(of: target, from: from, to: to, limit: limit + 1, snapshot)
            if all.count <= limit {
                // The sums also include intervals that were deleted. Only the time of existing intervals is subtracted.
                for index in days.indices where days[index].start < summed.to { days[index].remove(all) }
                intervals = all.reversed()
            }
        }
        if intervals == nil {
            let parts = summed.map { [($0.to, to), (from, $0.from)] } ?? [(from, to)]
            var found: [LedgerInterval] = []
            for (from, to) in parts where from < to {
                found += try reader.intervals(of: target, from: from, to: to, limit: Self.intervalLimit, snapshot)
                    .compactMap { $0.part(from: from, to: to) }
            }
            intervals = found.reversed()
        }
        let current = snapshot.accounting.accounts[target]?.ledger.current.state.basis
        let isChecked =
            intervals?.contains { $0.state.basis == .checks } ?? false || summed != nil && current == .checks
        return TargetTimes(
            from: from,
            to: to,
            intervals: intervals ?? [],
            days: days,
            basis: isChecked ? .checks : .path
        )
    }

    /// The maximum number of intervals that are read for an answer. It corresponds to a change of state every two seconds for two days.
    static let intervalLimit = 100_000
}

/// The sums of days in the last year. Thread-safe. A page of all targets would read 100,000 of them, and those of settled days do not change.
final class DayMemory: Sendable {
    /// The length of the kept sums: the year of the calendar, and a day for its time zone.
    private static let length = SettledDay.length * (DayCalendar.weeks * 7 + 1)
    /// The maximum number of days of all targets, about 14 MB.
    private static let limit = 250_000

    private let known = Locked<[String: (settled: LedgerInstant, days: [SettledDay])]>([:])

    /// Returns the sums of the days of a target that lie completely within a window, earliest first.
    ///
    /// - Parameter summed: The part of the window that consists of days with complete sums; nil without one.
    func days(
        _ store: HistoryStore,
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        _ summed: (from: LedgerInstant, to: LedgerInstant)?,
        _ snapshot: MonitoringService.Snapshot
    ) throws -> [SettledDay] {
        guard let settled = summed?.to, to == snapshot.now, from > settled - Self.length else {
            return try store.settledDays(of: target, from: from, to: to, now: snapshot.now)
        }
        var days = known.withLock { known in known[target].flatMap { $0.settled == settled ? $0.days : nil } }
        if days == nil {
            let read = try store.settledDays(of: target, from: settled - Self.length, to: settled, now: snapshot.now)
            known.withLock { known in
                if known.values.reduce(read.count, { $0 + $1.days.count }) > Self.limit { known = [:] }
                known[target] = (settled, read)
            }
            days = read
        }
        // Later days have the time of deleted intervals.
        let later = try store.settledDays(of: target, from: settled, to: to, now: snapshot.now)
        return (days ?? []).filter { $0.start >= from } + later
    }
}

extension LedgerInterval {
    /// Returns the part of the interval within a window; nil if they do not overlap.
    fileprivate func part(from: LedgerInstant, to: LedgerInstant) -> LedgerInterval? {
        if start >= from, let end, end <= to { return self }
        let start = max(start, from)
        let end = end.map { min($0, to) }
        guard start < end ?? to else { return nil }
        return LedgerInterval(state, from: start, uncertainty: uncertainty, to: end, reason: reason)
    }
}

extension SettledDay {
    /// Subtracts the time of intervals from the sums of the day.
    fileprivate mutating func remove(_ intervals: [LedgerInterval]) {
        let end = start + Self.length
        for interval in intervals {
            let from = max(interval.start, start)
            let to = min(interval.end ?? end, end)
            guard from < to else { continue }
            let account = interval.state.account
            times[account] = max(0, times[account] - (to - from).ledgerNanoseconds)
        }
    }
}

extension Availability {
    /// Adds the sums of days.
    mutating func add(_ days: [SettledDay]) {
        for day in days { add(day.times) }
    }
}

extension MonitoringService.Snapshot {
    /// Returns the availability of a target as JSON and text.
    func item(of availability: Availability, target: String, _ basis: AttributionBasis) -> Item {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("target", target)
        object.add("from", time(availability.from))
        object.add("to", time(availability.to))
        object.add("basis", basis.rawValue)
        var seconds = JSONObject()
        for account in LedgerAccount.allCases {
            seconds.add(account.rawValue, number: availability.duration(account).decimalSeconds)
        }
        object.add("seconds", seconds)
        object.add(share: "availability", availability.availability)
        object.add(share: "theirs", availability.theirs)
        object.add(share: "ours", availability.ours)
        object.add(share: "provider", availability.provider)
        object.add(share: "atLeast", availability.atLeast)
        object.add(share: "atMost", availability.atMost)
        object.add("kind", "availability")
        return Item(key: target, object: object, text: text(of: availability, target))
    }

    /// Returns a line such as `internet: 99.98 % of what was observed in 30d: up 29d 22h, us 4.001s, unknown 1h`.
    private func text(of availability: Availability, _ target: String) -> String {
        let share = availability.availability.map { "\($0.percentText) %" } ?? "nothing"
        let lost = LedgerAccount.allCases.dropFirst().compactMap { account in
            let time = availability.duration(account)
            return time > .zero ? "\(account.rawValue) \(time.people)" : nil
        }
        let up = "up \(availability.duration(.up).people)"
        return "\(target.printable): \(share) of what was observed in \(availability.window.people): "
            + ([up] + lost).joined(separator: ", ")
    }
}

extension JSONObject {
    /// Adds a share from 0 to 1 with nine decimal places, rounded down; null for nil.
    mutating func add(share key: String, _ value: Double?) {
        guard let value else { return add(key, String?.none) }
        add(key, number: Int64((value * 1e9).rounded(.down)).decimal(places: 9))
    }
}
