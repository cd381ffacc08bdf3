import LinuxSupport

/// The file of a history, and what SQLite keeps beside it: which files these are, whatever has their names by now.
struct HistoryFiles: Sendable {
    private static let beside = ["-wal", "-shm"]

    private let file: String
    private let own: [String: NamespaceIdentity]

    /// - Parameter file: Where they are now.
    init(_ file: String) {
        self.file = file
        own = Dictionary(
            uniqueKeysWithValues: ([""] + Self.beside).compactMap { suffix in
                Self.identity(file + suffix).map { (suffix, $0) }
            }
        )
    }

    /// Whether the file is still where it was: not deleted, not moved away, and no other in its place.
    var areInPlace: Bool { Self.identity(file) == own[""] }

    /// Removes what is left beside a file that is not there any more: SQLite would take it to be of the next one of that name. What is
    /// somebody else's by now is left alone.
    func removeRest() {
        for suffix in Self.beside where own[suffix] != nil && Self.identity(file + suffix) == own[suffix] {
            OwnFile.remove(file + suffix)
        }
    }

    /// Device and inode, which no two files have at a time; nil where there is none.
    private static func identity(_ path: String) -> NamespaceIdentity? { try? NamespaceIdentity(path: path) }
}
