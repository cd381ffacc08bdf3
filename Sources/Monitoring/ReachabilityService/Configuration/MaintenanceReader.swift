import LinuxSupport

extension ServiceConfiguration {
    static func maintenance(_ root: TableReader, targets: [ServiceTarget]) -> [MaintenanceWindow] {
        root.tables("maintenance").compactMap { MaintenanceWindow($0, targets: targets.map(\.name)) }
    }
}

extension MaintenanceWindow {
    /// Nil for a table that does not say when; all that is wrong is collected.
    fileprivate init?(_ table: TableReader, targets known: [String]) {
        defer { table.finish() }
        let names = table.texts("targets")
        for (index, name) in (names ?? []).enumerated() where !known.contains(name) {
            let nearest = TableReader.nearest(to: name, of: known).map { "; is it \"\($0)\"?" } ?? ""
            table.complain("targets[\(index + 1)]", "there is no target \"\(name)\"\(nearest)")
        }
        let length = table.duration("for", atLeast: .seconds(1))
        if !table.has("for") { table.complain("for", "it is missing: how long it takes, such as 2h") }
        let begins = [Self.weekly(table), Self.daily(table), Self.once(table)]
        let given = ["weekly", "daily", "from"].filter { table.has($0) }
        if given.count != 1 {
            let found = given.isEmpty ? "none" : given.joined(separator: " and ")
            table.complain(nil, "it has one of weekly, daily, from, not \(found)")
        }
        guard let length, let begin = begins.compactMap(\.self).first else { return nil }
        if case .each(let weekday, _, _) = begin, length > .seconds(weekday == nil ? 86400 : 7 * 86400) {
            table.complain("for", "it is over before it begins again")
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
        table.complain("weekly", "it is a day, a time and a time zone such as \(example), not \"\(text)\"")
        return nil
    }

    private static func daily(_ table: TableReader) -> Begin? {
        guard let text = table.text("daily") else { return nil }
        if let time = time(text.split(at: " ").map(String.init)[...]) {
            return .each(weekday: nil, second: time.second, time.clock)
        }
        table.complain("daily", "it is a time and a time zone such as \"03:00 Europe/Berlin\", not \"\(text)\"")
        return nil
    }

    private static func once(_ table: TableReader) -> Begin? {
        guard let text = table.text("from") else { return nil }
        if let real = Timestamp.real(of: text) { return .once(real) }
        table.complain("from", "it is a time such as \"2026-11-21T22:00:00Z\" (RFC 3339), not \"\(text)\"")
        return nil
    }

    /// `03:00 Europe/Berlin`; without a time zone it is that of the machine.
    private static func time(_ words: ArraySlice<String>) -> (second: Int64, clock: LocalTime)? {
        guard let text = words.first, words.count <= 2 else { return nil }
        let parts = text.split(at: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int64(parts[0]),
            let minute = Int64(parts[1]), (0..<24).contains(hour), (0..<60).contains(minute),
            let clock = words.count == 2 ? LocalTime(zone: words[words.startIndex + 1]) : LocalTime()
        else { return nil }
        return (hour * 3600 + minute * 60, clock)
    }
}
