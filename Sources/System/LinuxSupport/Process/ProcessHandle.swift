import CLinux
import Glibc

/// A process that stays the one it was, whoever gets its number later.
///
/// Thread-safe. C counterpart: `pidfd_open(2)`.
package final class ProcessHandle: Sendable {
    /// The process's number in the caller's PID namespace.
    package let number: Int32
    private let file: Descriptor

    /// - Throws: `.noSuchProcess` also for what is no process's number, or a thread's.
    package init(_ number: Int32) throws(SystemError) {
        let file = clinux_pidfd_open(number)
        guard file >= 0 else {
            let error = SystemError.current
            throw [.invalidArgument, .noEntry].contains(error) ? .noSuchProcess : error
        }
        self.file = Descriptor(owning: file)
        self.number = number
    }

    /// Readable from the end of the process on, for ever.
    package var descriptor: CInt { file.number }

    /// Whether the process, that is its last thread, has ended; whether its parent knows does not matter.
    package var hasEnded: Bool {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0
    }
}
