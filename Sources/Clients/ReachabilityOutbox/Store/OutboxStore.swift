import Dispatch
import GRDB
import LinuxSupport

/// The file: every change is one transaction, on the disk when it returns. Work is done on a queue of its own, never on the
/// threads of tasks, and never cut short by a task's end.
final class OutboxStore: Sendable {
    let file: String
    let options: OutboxOptions
    private let bootTime: @Sendable () -> Duration
    private let database: DatabaseQueue
    private let queue = DispatchQueue(label: "ReachabilityOutbox.file")

    init(file: String, options: OutboxOptions, database: DatabaseQueue) {
        self.file = file
        self.options = options
        self.database = database
        bootTime = Self.bootTime(of: options.clock)
    }

    /// CLOCK_BOOTTIME, as far as the clock of the options has gone since now.
    private static func bootTime(of clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let (start, first) = (SystemClock.boot, clock.now)
        return { start + first.duration(to: clock.now) }
    }

    var reading: ClockReading { ClockReading(bootTime: bootTime(), realTime: .milliseconds(now)) }

    var lockFile: String { Self.lockFile(of: file) }

    static func lockFile(of file: String) -> String { file + ".lock" }

    /// Milliseconds since 1970. A clock before that counts as 1970, so that differences of two times fit.
    var now: Int64 { max(0, options.realTime().milliseconds) }

    /// A time plus a duration. Neither need be small: durations come from callers, and a time may come from a damaged row.
    static func time(_ time: Int64, plus duration: Duration) -> Int64 {
        (Duration.milliseconds(time) + .milliseconds(duration.milliseconds)).milliseconds
    }

    /// Runs one transaction that writes.
    ///
    /// - Parameter erases: Whether what it deletes shall be gone from the log too.
    func write<Value: Sendable>(
        erases: Bool = false,
        _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws(OutboxError) -> Value {
        try await Self.offPool(queue, file) { [database, reading] in
            let value = try database.write { db in
                try reading.follow(db)
                return try change(db)
            }
            if erases { Self.emptyLog(database) }
            return value
        }
    }

    /// Runs one transaction that writes, after those before it; what fails is no loss.
    func writeLater(_ change: @escaping @Sendable (Database) throws -> Void) {
        queue.async { [database] in try? database.write(change) }
    }

    /// Takes what was deleted out of the log too.
    func eraseLog() async throws(OutboxError) {
        try await Self.offPool(queue, file) { [database] in Self.emptyLog(database) }
    }

    /// Writes the log into the file and cuts it off: a log keeps what was deleted. Somebody who reads may prevent it, for a second at
    /// most; the next time is soon.
    static func emptyLog(_ database: DatabaseQueue) {
        try? database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA busy_timeout = 1000")
            defer { try? db.execute(sql: "PRAGMA busy_timeout = 30000") }
            try db.checkpoint(.truncate)
        }
    }

    /// Runs one transaction that only reads.
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (Database) throws -> Value
    ) async throws(OutboxError) -> Value {
        try await Self.offPool(queue, file) { [database] in try database.read(work) }
    }

    /// Writes the log into the file, deletes it, and closes the file.
    func close() async throws(OutboxError) {
        try await Self.offPool(queue, file) { [database] in try database.close() }
    }

    /// Runs what may block on a queue, and waits for it without blocking a thread.
    static func offPool<Value: Sendable>(
        _ queue: DispatchQueue,
        _ file: String,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws(OutboxError) -> Value {
        let result: Result<Value, OutboxError> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result(catching: work).mapError { OutboxError($0, file: file) })
            }
        }
        return try result.get()
    }
}
