package import LinuxSupport
package import ReachabilityFleet

/// What of the log the broker has.
package struct AgentCursor: Hashable, Sendable {
    package let position: EventPosition
    /// When that event was, by the wall clock.
    package let time: Duration
    /// The last of them that was told, for not all are; nil where none was.
    package let told: EventPosition?

    package init(position: EventPosition, time: Duration, told: EventPosition?) {
        (self.position, self.time, self.told) = (position, time, told)
    }

    /// As it stands in the file.
    package var text: String { "\(position) \(time.components.seconds)\(told.map { " \($0)" } ?? "")\n" }

    package init?(_ text: String) {
        let words = text.words
        guard 2...3 ~= words.count, let position = EventPosition(String(words[0])), let time = Int64(words[1]),
            0...Timestamp.latest ~= time
        else { return nil }
        let told = words.count == 3 ? EventPosition(String(words[2])) : nil
        if words.count == 3, told == nil { return nil }
        self.init(position: position, time: .seconds(time), told: told)
    }
}

/// The file that keeps a cursor. One that is lost costs nothing but that events are told twice.
package struct CursorFile: Sendable {
    package let path: String

    package init(_ path: String) {
        self.path = path
    }

    /// Nil where there is none, or none that can be read.
    package func read() -> AgentCursor? { TextFile.read(path).flatMap { AgentCursor($0) } }

    /// The file is always whole: the old one, or the new one.
    package func write(_ cursor: AgentCursor) throws(SystemError) {
        let fresh = path + ".new"
        let file = try OutputFile(fresh, replacing: true)
        try file.append(Array(cursor.text.utf8))
        try OwnFile.rename(fresh, to: path)
    }
}
