import GRDB
import LinuxSupport

/// The expiry of requests and the memory of delivered keys count the time for which the machine runs. A step of the system's clock moves both,
/// so that a boot with a clock that is years ahead deletes nothing.
extension ClockReading {
    /// The longest step that is followed, in milliseconds: 35,000 years. Times beyond it stand in damaged rows only.
    private static let longestStep: Int64 = 1 << 50
    /// The interval at which the reading is written again.
    private static let pause = Duration.seconds(600)

    /// Returns how far the system's clock was set since the reading in the file.
    func step(_ db: Database) throws -> Duration { try Self.last(db).map { step(since: $0) } ?? Duration.zero }

    /// Moves the times in the file by the step, and keeps this reading in place of the last.
    func follow(_ db: Database) throws {
        let last = try Self.last(db)
        let step = last.map { self.step(since: $0) } ?? Duration.zero
        if step != .zero {
            let length = max(-Self.longestStep, min(step.milliseconds, Self.longestStep))
            for (table, column) in [("request", "expiresAt"), ("delivered", "deliveredAt")] {
                try db.execute(
                    sql: "UPDATE \(table) SET \(column) = \(column) + ? WHERE abs(\(column) / 2) < ?",
                    arguments: [length, Self.longestStep]
                )
            }
        }
        if let last, step == .zero, boot == last.boot, realTime - last.realTime < Self.pause { return }
        try db.execute(
            sql: "INSERT OR REPLACE INTO clock (id, boot, bootTime, realTime) VALUES (1, ?, ?, ?)",
            arguments: [boot, bootTime.milliseconds, realTime.milliseconds]
        )
    }

    /// A file of an earlier version has none.
    private static func last(_ db: Database) throws -> ClockReading? {
        guard try db.tableExists("clock") else { return nil }
        return try Row.fetchOne(db, sql: "SELECT boot, bootTime, realTime FROM clock").map { row in
            ClockReading(
                boot: row[0],
                bootTime: .milliseconds(row[1] as Int64),
                realTime: .milliseconds(row[2] as Int64)
            )
        }
    }
}
