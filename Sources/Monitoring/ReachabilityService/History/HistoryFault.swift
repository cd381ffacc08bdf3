import GRDB
import LinuxSupport

/// Why the history cannot be written or read. Observing goes on without it.
package struct HistoryFault: Error, Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The disk is full.
        case full
        /// The file or its directory cannot be made, read or written by this user.
        case denied
        /// The file is damaged.
        case corrupt
        /// It is of a later version of this program, or of another program.
        case foreign
        /// Another process has it.
        case locked
        /// Reading or writing fails.
        case failed
    }

    package let kind: Kind
    /// One sentence, with the file.
    package let text: String

    package init(_ kind: Kind, _ file: String, _ cause: String) {
        self.kind = kind
        text = "the history \(file.printable) cannot be used: \(cause)"
    }

    package init(_ error: any Error, file: String) {
        switch error {
        case let error as HistoryFault: self = error
        case let error as SystemError where error == .tryAgain:
            self.init(.locked, file, "another process uses it: give each its own --history")
        case let error as SystemError: self.init(Kind(error), file, error.description)
        case let error as DatabaseError: self.init(Kind(error), file, error.message ?? error.resultCode.description)
        default: self.init(.failed, file, "\(type(of: error))")
        }
    }
}

extension HistoryFault.Kind {
    fileprivate init(_ error: SystemError) {
        switch error {
        case .noSpace: self = .full
        case .accessDenied, .notPermitted, .noEntry, .readOnly: self = .denied
        case .tryAgain: self = .locked
        default: self = .failed
        }
    }

    fileprivate init(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_FULL: self = .full
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .corrupt
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: self = .denied
        // The file of shared memory cannot grow.
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: self = .full
        default: self = .failed
        }
    }
}
