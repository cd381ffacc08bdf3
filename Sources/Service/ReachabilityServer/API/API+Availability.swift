import LinuxPrimitives
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// How the time of each target was spent, one item for each.
    func availability(_ query: Query, of name: String?) throws(Problem) -> Page {
        let snapshot = service.snapshot
        let window = try query.duration("window")
        let to = try query.instant("to", snapshot.calendar) ?? snapshot.now
        let from = try query.instant("from", snapshot.calendar) ?? (to - (window ?? .seconds(30 * 86400)))
        if window != nil, query.text("from") != nil {
            throw Problem(.badRequest, "window and from say the same: give one of them")
        }
        guard from < to, to <= snapshot.now else {
            throw Problem(.badRequest, "a window begins before it ends, and ends before now")
        }
        let target = name ?? query.text("target")
        if let target { try checkTarget(target, snapshot) }
        let targets = target.map { [$0] } ?? snapshot.books.targets
        var intervals: [String: [LedgerInterval]] = [:]
        var settled: [String: [SettledDay]] = [:]
        for target in targets {
            intervals[target] = try self.intervals(of: target, from: from, to: to, limit: .max, snapshot)
            settled[target] = try settledDays(of: target, from: from, to: to, snapshot)
        }
        return try Page(of: targets, query, key: \.self, isAfter: >) { target in
            let intervals = intervals[target] ?? []
            let basis = intervals.contains { $0.state.basis == .checks } ? AttributionBasis.checks : .path
            var availability = Availability(of: intervals, from: from, to: to)
            availability.add(settled[target] ?? [])
            return snapshot.item(of: availability, target: target, basis)
        }
    }
}

extension API {
    /// Whole days of which only the sums are kept, the earliest first.
    func settledDays(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [SettledDay] {
        guard let store = history?.store else { return [] }
        do { return try store.settledDays(of: target, from: from, to: to, now: snapshot.now) } catch {
            throw Self.unreadable(error)
        }
    }
}

extension Availability {
    /// Counts days of which only the sums are kept.
    mutating func add(_ days: [SettledDay]) {
        for day in days { for (account, time) in day.times { add(time, to: account) } }
    }
}

extension MonitoringService.Snapshot {
    func item(of availability: Availability, target: String, _ basis: AttributionBasis) -> Item {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("target", target)
        object.add("from", Timestamp(real: calendar.wall(at: availability.from)))
        object.add("to", Timestamp(real: calendar.wall(at: availability.to)))
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

    /// For example `internet: 99.98 % of 29d 23h observed; us 4.001s, unknown 1h`.
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
    /// From 0 to 1 with nine digits, cut and not rounded: what was lost shows.
    mutating func add(share key: String, _ value: Double?) {
        guard let value else { return add(key, String?.none) }
        add(key, number: Int64((value * 1e9).rounded(.down)).decimal(places: 9))
    }
}
