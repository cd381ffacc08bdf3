import Dispatch
import GRDB
import Glibc

extension OutboxStore {
    /// Reads a file that nothing may change, and makes nothing beside it.
    static func inspect<Value: Sendable>(
        at file: String,
        _ work: @escaping @Sendable (Database) throws -> Value
    ) async throws(OutboxError) -> Value {
        let queue = DispatchQueue(label: "ReachabilityOutbox.reading")
        let file = OutboxFile.resolved(file)
        return try await offPool(queue, file) {
            guard try OutboxFile.isOutbox(file) else { throw Errno(number: ENOENT) }
            // Nobody opens it meanwhile. Whoever has it open already keeps a log.
            let lock = try FileLock.share(lockFile(of: file), for: .opening)
            defer { withExtendedLifetime(lock) {} }
            while true {
                let reading: OutboxFile.Reading = OutboxFile.exists(file + "-wal") ? .shared : .alone
                do {
                    return try OutboxFile.open(file, reading) { try check($0, file) }.read(work)
                } catch let error as DatabaseError where reading == .shared && error.resultCode == .SQLITE_CANTOPEN {
                    // The last who had it open may have closed it now, which ends the log.
                    guard OutboxFile.exists(file + "-wal") else { continue }
                    let cause = "its log has no index beside it (\(file)-shm); opening it to send or to add makes one"
                    throw OutboxError.cannotOpen(file: file, cause: cause)
                }
            }
        }
    }
}
