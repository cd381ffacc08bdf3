import Dispatch
import Glibc
import LinuxSupport

/// Results, one line at a time, each on its way before the next is made.
package enum StandardOutput {
    /// Whether a person is reading.
    package static let isTerminal = isatty(STDOUT_FILENO) == 1
    /// Whether that person may like colours: `NO_COLOR` is unset or empty (<https://no-color.org>), and `TERM` is not `dumb`.
    package static let wantsColour = isTerminal && value(of: "NO_COLOR").isEmpty && value(of: "TERM") != "dumb"

    private static func value(of variable: String) -> String {
        unsafe getenv(variable).map { unsafe String(cString: $0) } ?? ""
    }

    /// Writes a line, and says whether anybody reads. A reader that has gone is no failure: what the command has found out still
    /// decides how it ends. Any other failure, such as a full disk, ends it with a message and the status of an input/output error.
    @discardableResult
    package static func write(_ line: consuming [UInt8]) -> Bool {
        line.append(UInt8(ascii: "\n"))
        do {
            try StandardStream.write(line, to: STDOUT_FILENO)
            return true
        } catch {
            if error.isClosedPipe { return false }
            StandardError.write("reachability: cannot write to standard output: \(error.text)")
            exit(ExitMessage.Status.ioError.rawValue)
        }
    }

    /// Writes a line for people, in which what would steer a terminal is shown instead.
    package static func write(text: String) {
        write(Array(text.printable.utf8))
    }

    /// Ends the command quietly when the reader of a pipe or socket goes away, without waiting for the next line.
    package static func endWhenReaderLeaves() {
        var status = stat()
        guard unsafe fstat(STDOUT_FILENO, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            return
        }
        // Dispatch knows no event for this: a source would never fire, and its manager would spin. A queue without a
        // target has a thread of its own, which may block.
        DispatchQueue(label: "reachability.reader").async {
            // Nothing is asked for, so only an error or a hang-up is an answer.
            var poll = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while unsafe Glibc.poll(&poll, 1, -1) < 0 {}
            exit(0)
        }
    }
}
