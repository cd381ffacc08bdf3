import Dispatch
import GRDB

/// The file: every change is one transaction, on the disk when it returns. Work is done on a queue of its own, never on the
/// threads of tasks, and never cut short by a task's end.
final class OutboxStore: Sendable {
    let file: String
    let options: OutboxOptions
    private let database: DatabaseQueue
    private let queue = DispatchQueue(label: "ReachabilityOutbox.file")

    init(file: String, options: OutboxOptions, database: DatabaseQueue) {
        self.file = file
        self.options = options
        self.database = database
    }

    var lockFile: String { Self.lockFile(of: file) }

    static func lockFile(of file: String) -> String { file + ".lock" }

    var now: Int64 { options.realTime().milliseconds }

    /// Runs one transaction that writes.
    ///
    /// - Parameter erases: Whether what it deletes shall be gone from the log too.
    func write<Value: Sendable>(
        erases: Bool = false,
        _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws(OutboxError) -> Value {
        try await Self.offPool(queue, file) { [database] in
            let value = try database.write(change)
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

extension Duration {
    /// Whole milliseconds, as times are stored.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard abs(seconds) < Int64.max / 2000 else { return seconds < 0 ? .min / 2 : .max / 2 }
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
