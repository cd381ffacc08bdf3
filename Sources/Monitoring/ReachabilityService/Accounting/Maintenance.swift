import LinuxSupport
import NetworkReachability
import ReachabilityLedger

/// A maintenance window that was announced through the API. It occurs once and is removed after its end.
package struct PlannedMaintenance: Hashable, Sendable {
    /// The name that the client chose; see ``isID(_:)``.
    package let id: String
    /// The names of the targets; nil for all targets.
    package let targets: Set<String>?
    /// The start on the wall clock, since 1970.
    package let start: Duration
    /// The duration. Steps of the wall clock do not change it.
    package let length: Duration
    /// The user, token or certificate that announced the maintenance.
    package let author: String

    /// The maximum number of announced windows.
    package static let countLimit = 100
    /// The maximum duration of a window.
    package static let longest = Duration.seconds(31 * 86400)
    /// The maximum time from the announcement to the start.
    package static let farthest = Duration.seconds(366 * 86400)

    package init(id: String, targets: Set<String>?, start: Duration, length: Duration, author: String) {
        (self.id, self.targets, self.start, self.length, self.author) = (id, targets, start, length, author)
    }

    /// The end on the wall clock, since 1970. The maintenance includes its start but not its end.
    package var end: Duration { start + length }

    var window: MaintenanceWindow { MaintenanceWindow(targets: targets, begin: .once(start), length: length) }

    /// Returns a Boolean value that indicates whether a text is a valid name: an identifier, but not `.` or `..`.
    package static func isID(_ text: String) -> Bool { text.isIdentifier && !text.isPathStep }
}

extension MonitoringService {
    /// The announced windows that have not ended, sorted by name.
    package var planned: [PlannedMaintenance] {
        let now = clock.real()
        return state.withLock { $0.planned.values.filter { $0.end > now } }.sorted { $0.id < $1.id }
    }

    /// Announces maintenance, or replaces the announced window with the same name. Intervals in the past are not changed.
    ///
    /// - Returns: True if the name is new, false if a window was replaced, nil if ``PlannedMaintenance/countLimit`` is reached.
    package func plan(_ maintenance: PlannedMaintenance) -> Bool? {
        let real = clock.real()
        var isNew: Bool?
        record { state, now in
            state.planned = state.planned.filter { $0.value.end > real }
            let known = state.planned[maintenance.id] != nil
            guard known || state.planned.count < PlannedMaintenance.countLimit else { return [] }
            state.planned[maintenance.id] = maintenance
            isNew = !known
            return [state.accounting.note(.maintenancePlanned(maintenance), of: nil, now: now)]
        }
        followMaintenance()
        return isNew
    }

    /// Cancels announced maintenance. If it has started, it ends now.
    ///
    /// - Returns: True if there was an announced window with this name that had not ended.
    package func cancelMaintenance(_ id: String) -> Bool {
        let real = clock.real()
        var wasKnown = false
        record { state, now in
            guard let known = state.planned.removeValue(forKey: id) else { return [] }
            wasKnown = known.end > real
            return [state.accounting.note(.maintenanceCancelled(id), of: nil, now: now)]
        }
        followMaintenance()
        return wasKnown
    }
}

/// A maintenance window. The configuration key is `[[maintenance]]`. Outages during maintenance are not attributed to anyone.
package struct MaintenanceWindow: Hashable, Sendable {
    enum Begin: Hashable, Sendable {
        /// Once, at a time since 1970.
        case once(Duration)
        /// Each day, or each week on `weekday` (0 is Monday). `second` is in seconds after local midnight.
        case each(weekday: Int?, second: Int64, LocalTime)
    }

    /// The names of the targets; nil for all targets.
    package let targets: Set<String>?
    let begin: Begin
    /// The duration. Steps of the wall clock do not change it.
    package let length: Duration

    func affects(_ target: String) -> Bool { targets?.contains(target) ?? true }

    /// Returns a Boolean value that indicates whether a time since 1970 is in the window. The start is included, the end is not.
    func contains(_ moment: Duration) -> Bool {
        begins(around: moment).contains { $0 <= moment && moment < $0 + length }
    }

    /// Returns the first start or end after a time since 1970; nil if none follows.
    func change(after moment: Duration) -> Duration? {
        begins(around: moment).flatMap { [$0, $0 + length] }.filter { $0 > moment }.min()
    }

    /// Returns the starts shortly before and after a time since 1970.
    private func begins(around moment: Duration) -> [Duration] {
        switch begin {
        case .once(let begin): return [begin]
        case .each(let weekday, let second, let clock):
            let today = clock.shown(at: moment.components.seconds).floored(by: LocalTime.day)
            let back = length.components.seconds / LocalTime.day + 1
            return (-back...8).map { today + $0 }.filter { day in
                // 1 January 1970 was a Thursday.
                weekday.map { (day + 3 - Int64($0)) % 7 == 0 } ?? true
            }.map { .seconds(clock.moment(showing: $0 * LocalTime.day + second)) }
        }
    }
}

extension MonitoringService {
    /// Replaces the configured maintenance windows.
    package func setMaintenance(_ windows: [MaintenanceWindow]) {
        state.withLock { $0.maintenance = windows }
        followMaintenance()
    }

    /// Applies the current windows to the accounts and schedules a timer for the next start or end.
    ///
    /// Also called after a step of the wall clock and after sleep.
    ///
    /// - Parameter change: The start or end for which the timer fired, since 1970. The accounts change at this time even if the timer is
    ///   late.
    func followMaintenance(at change: Duration? = nil) {
        let real = clock.real()
        record { state, now in
            let late = change.map { max(.zero, real - $0) } ?? .zero
            let moment = change.map { max($0, real) } ?? real
            let lasting = Self.windows(state).filter { $0.contains(moment) }
            let targets = state.accounting.targets.filter { target in lasting.contains { $0.affects(target) } }
            return state.accounting.setMaintenance(of: Set(targets), at: now - late, now: now)
        }
        let next = state.withLock { Self.windows($0) }.compactMap { $0.change(after: max(change ?? real, real)) }.min()
        let timer = next.map { next in
            clock.monitor.schedule(after: next - real, on: eventQueue) { [weak self] in
                self?.followMaintenance(at: next)
            }
        }
        let previous = state.withLock { state in
            let previous = state.maintenanceTimer
            state.maintenanceTimer = timer
            return previous
        }
        previous?.cancel()
    }

    /// Returns the configured and the announced windows.
    private static func windows(_ state: State) -> [MaintenanceWindow] {
        state.maintenance + state.planned.values.map(\.window)
    }
}

extension ServiceConfiguration {
    static func maintenance(_ root: TableReader, targets: [ServiceTarget]) -> [MaintenanceWindow] {
        root.tables("maintenance").compactMap { MaintenanceWindow($0, targets: targets.map(\.name)) }
    }
}

extension MaintenanceWindow {
    /// Reads a table and collects its problems. The result is nil without a valid start and length.
    fileprivate init?(_ table: TableReader, targets known: [String]) {
        defer { table.finish() }
        let names = table.texts("targets")
        for (index, name) in (names ?? []).enumerated() where !known.contains(name) {
            let nearest = known.nearest(to: name).map { "; did you mean \"\($0)\"?" } ?? ""
            table.report("targets[\(index + 1)]", "unknown target \"\(name)\"\(nearest)")
        }
        let length = table.duration("for", atLeast: .seconds(1))
        if !table.has("for") { table.report("for", "missing; give a duration such as 2h") }
        let begins = [Self.weekly(table), Self.daily(table), Self.once(table)]
        let given = ["weekly", "daily", "from"].filter { table.has($0) }
        if given.count != 1 {
            let found = given.isEmpty ? "none" : given.joined(separator: " and ")
            table.report(nil, "must have exactly one of weekly, daily, from, not \(found)")
        }
        guard let length, let begin = begins.compactMap(\.self).first else { return nil }
        if case .each(let weekday, _, _) = begin, length > .seconds(weekday == nil ? 86400 : 7 * 86400) {
            table.report("for", "must not be longer than the time until the next start")
        }
        self.init(targets: names.map(Set.init), begin: begin, length: length)
    }

    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

    private static func weekly(_ table: TableReader) -> Begin? {
        guard let text = table.text("weekly") else { return nil }
        let words = text.split(at: " ").map(String.init)
        if let day = words.first.flatMap({ days.firstIndex(of: $0) }), let time = time(words.dropFirst()) {
            return .each(weekday: day, second: time.second, time.clock)
        }
        let example = "\"Sun 03:00 Europe/Berlin\""
        table.report("weekly", "must be a day, a time and a time zone such as \(example), not \"\(text)\"")
        return nil
    }

    private static func daily(_ table: TableReader) -> Begin? {
        guard let text = table.text("daily") else { return nil }
        if let time = time(text.split(at: " ").map(String.init)[...]) {
            return .each(weekday: nil, second: time.second, time.clock)
        }
        table.report("daily", "must be a time and a time zone such as \"03:00 Europe/Berlin\", not \"\(text)\"")
        return nil
    }

    private static func once(_ table: TableReader) -> Begin? {
        guard let text = table.text("from") else { return nil }
        if let real = Timestamp.real(of: text) { return .once(real) }
        table.report("from", "must be a time such as \"2026-11-21T22:00:00Z\" (RFC 3339), not \"\(text)\"")
        return nil
    }

    /// Reads a time of day with an optional time zone, such as `03:00 Europe/Berlin`. The default is the time zone of the machine.
    static func time(_ words: ArraySlice<String>) -> (second: Int64, clock: LocalTime)? {
        guard let text = words.first, words.count <= 2 else { return nil }
        let parts = text.split(at: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int64(parts[0]),
            let minute = Int64(parts[1]), (0..<24).contains(hour), (0..<60).contains(minute),
            let clock = words.count == 2 ? LocalTime(zone: words[words.startIndex + 1]) : LocalTime()
        else { return nil }
        return (hour * 3600 + minute * 60, clock)
    }
}
