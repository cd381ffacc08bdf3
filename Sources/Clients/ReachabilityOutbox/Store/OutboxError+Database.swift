import GRDB
import Glibc

extension OutboxError {
    /// What an error of GRDB or SQLite means. Neither the statement nor its arguments go into it.
    init(_ error: any Error, file: String) {
        switch error {
        case let error as OutboxError: self = error
        case let error as Errno: self = error.error(opening: file)
        case let error as DatabaseError: self.init(error, file: file)
        default: self = .failed(file: file, cause: "\(type(of: error))")
        }
    }

    private init(_ error: DatabaseError, file: String) {
        let cause = error.message ?? error.resultCode.description
        self =
            switch error.resultCode {
            case .SQLITE_FULL: .diskFull(file: file)
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt(file: file, keptAs: nil)
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy(file: file)
            case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: .cannotOpen(file: file, cause: cause)
            case .SQLITE_IOERR where Self.isWriting(error.extendedResultCode): .diskFull(file: file)
            default: .failed(file: file, cause: cause)
            }
    }

    /// SQLite tells ENOSPC apart from other errors of write(2), but neither EFBIG (a limit of the file's size) nor EDQUOT, and
    /// not when the file of shared memory cannot grow.
    private static func isWriting(_ code: ResultCode) -> Bool {
        code == .SQLITE_IOERR_WRITE && [EFBIG, EDQUOT, ENOSPC].contains(errno) || code == .SQLITE_IOERR_SHMSIZE
    }
}

/// An error number of the system.
///
/// C counterpart: `errno(3)`.
struct Errno: Error, CustomStringConvertible {
    let number: CInt

    static var current: Errno { Errno(number: errno) }

    /// The system's own words.
    var description: String { unsafe String(cString: strerror(number)) }

    /// The same as an error of an outbox.
    func error(opening file: String) -> OutboxError {
        [ENOSPC, EDQUOT, EFBIG].contains(number)
            ? .diskFull(file: file) : .cannotOpen(file: file, cause: description)
    }
}
