package import GRDB
import LinuxSupport

/// A file of SQLite that is a program's own. It has one writer, and whoever reads does not hold it up.
package enum DatabaseFile {
    /// Opens a file, or makes one where there is none, of mode 0600. One that is damaged is set aside.
    ///
    /// - Parameters:
    ///   - label: What it is called in diagnostics.
    ///   - migrator: How each form of it becomes the next.
    ///   - check: Whether it is what it should be, of a form that is known: before anything is written into it.
    package static func open(
        _ file: String,
        label: String,
        _ migrator: DatabaseMigrator,
        check: @escaping @Sendable (Database) throws -> Void
    ) throws -> DatabasePool {
        func connect() throws -> DatabasePool {
            var configuration = Configuration()
            configuration.label = label
            configuration.busyMode = .timeout(1)
            configuration.maximumReaderCount = 2
            configuration.prepareDatabase { db in
                guard !db.configuration.readonly else { return }
                try check(db)
                // What was committed survives a power cut.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.execute(sql: "PRAGMA journal_size_limit = 1048576")
            }
            let path = file.hasPrefix("/") ? file : "./" + file
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try migrator.migrate(pool)
            return pool
        }
        try OwnFile.make(file)
        do {
            return try connect()
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            try setAside(file)
            try OwnFile.make(file)
            return try connect()
        }
    }

    /// Gives a damaged file, and what SQLite keeps beside it, another name. It is never deleted.
    static func setAside(_ file: String) throws(SystemError) {
        let name = "\(file).corrupt-\(SystemClock.real.components.seconds)"
        try OwnFile.rename(file, to: name)
        for suffix in ["-wal", "-shm"] { try? OwnFile.rename(file + suffix, to: name + suffix) }
    }
}
