import Dispatch
import Glibc
package import LinuxSupport
package import Logging
package import NetworkReachability

/// The standard streams as file descriptors.
package enum StandardStream {
    /// Occupies the numbers of standard streams that are closed. Otherwise a socket could get such a number, and output would go to the
    /// kernel. The placeholder refuses reads and writes, like a closed stream.
    package static func reserveClosedNumbers() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // open(2) returns the lowest free number.
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes all of `text`. If possible this is one system call, so that no other process writes into a line.
    ///
    /// C counterpart: `write(2)`.
    package static func write(_ text: [UInt8], to descriptor: CInt) throws(SystemError) {
        var bytes = text[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EAGAIN {
                // Another process made the descriptor non-blocking.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe Glibc.poll(&poll, 1, -1)
            } else if errno != EINTR {
                throw .current
            }
        }
    }
}

/// Messages on standard error, one line at a time. Control characters are escaped, because lines quote arguments, files and answers of
/// servers.
package enum StandardError {
    /// A Boolean value that indicates whether the stream is a terminal.
    package static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Writes a line that begins with the name of the command.
    @Sendable package static func report(_ text: String) { write("reachability: \(text)") }

    package static func write(_ line: String) {
        // An error here cannot be reported, because standard error is the only place for reports.
        _ = try? StandardStream.write(Array((line.printableLines + "\n").utf8), to: STDERR_FILENO)
    }

    /// Shows progress on a terminal, in place of the last progress text. An empty text clears the line.
    package static func showProgress(_ text: String) {
        guard isTerminal else { return }
        _ = try? StandardStream.write(Array("\r\u{1b}[K\(text.printable.prefix(79))".utf8), to: STDERR_FILENO)
    }
}

/// Results on standard output, one line at a time. Each line is written immediately.
package enum StandardOutput {
    /// A Boolean value that indicates whether the stream is a terminal.
    package static let isTerminal = isatty(STDOUT_FILENO) == 1
    /// Whether colours are used: on a terminal, unless `NO_COLOR` is set and not empty (<https://no-color.org>) or `TERM` is `dumb`.
    package static let wantsColour =
        isTerminal && EnvironmentVariable.value(of: "NO_COLOR") == nil
        && EnvironmentVariable.value(of: "TERM") != "dumb"

    /// Writes a line. Returns false if the reader has closed the pipe. This is not an error, because the result still decides the exit
    /// status. Any other error, such as a full disk, ends the program with a message and exit status 74.
    @discardableResult
    package static func write(_ line: consuming [UInt8]) -> Bool {
        line.append(UInt8(ascii: "\n"))
        do {
            try StandardStream.write(line, to: STDOUT_FILENO)
            return true
        } catch {
            if error == .brokenPipe { return false }
            StandardError.report("cannot write to standard output: \(error)")
            exit(ExitMessage.Status.ioError.rawValue)
        }
    }

    /// Writes a line of text, with control characters escaped.
    package static func write(text: String) {
        write(Array(text.printable.utf8))
    }

    /// Ends the program with status 0 and without a message as soon as the reader of a pipe or socket closes it.
    package static func exitWhenReaderCloses() {
        var status = stat()
        guard unsafe fstat(STDOUT_FILENO, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            return
        }
        // A Dispatch source for this never fires, and its manager spins. A queue without a target has a thread of its own, which may
        // block.
        DispatchQueue(label: "reachability.reader").async {
            // No event is requested, so only an error or a hang-up is reported.
            var poll = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while unsafe Glibc.poll(&poll, 1, -1) < 0 {}
            exit(0)
        }
    }
}

/// A colour of text on a terminal (ECMA-48, Select Graphic Rendition).
package enum Colour: String {
    case red = "31"
    case green = "32"
    case yellow = "33"
}

extension String {
    package func coloured(_ colour: Colour?) -> String {
        colour.map { "\u{1b}[\($0.rawValue)m\(self)\u{1b}[0m" } ?? self
    }

    /// Returns the text, filled with spaces to `width` bytes of UTF-8.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - utf8.count))
    }
}

/// Text in lines of at most 80 columns.
package enum Lines {
    package static let width = 80

    /// Joins phrases with spaces. Lines are broken only between phrases.
    ///
    /// - Parameter indentation: The text before every line except the first.
    package static func wrapped(_ phrases: [String], indentation: String) -> [String] {
        var (lines, line) = ([String](), phrases.first ?? "")
        for phrase in phrases.dropFirst() {
            if line.count + 1 + phrase.count <= width {
                line += " " + phrase
            } else {
                lines.append(line)
                line = indentation + phrase
            }
        }
        return lines + [line]
    }
}

/// An error that ends the program with one line on standard error and an exit status of its own.
package protocol ExitError: Error {
    var exitMessage: ExitMessage { get }
}

/// An error message for standard error, and the exit status of the program.
package struct ExitMessage: ExitError {
    /// Exit statuses of `sysexits(3)`.
    package enum Status: CInt {
        case usage = 64
        case dataError = 65
        case noInput = 66
        case unavailable = 69
        case cantCreate = 73
        case ioError = 74
        case temporaryFailure = 75
        case noPermission = 77
        case configuration = 78
    }

    package let text: String
    package let status: Status

    package init(_ text: String, _ status: Status) {
        (self.text, self.status) = (text, status)
    }

    package var exitMessage: ExitMessage { self }
}

extension NetworkReachabilityError: ExitError {
    package var exitMessage: ExitMessage {
        if case .capabilityRequired = self { return ExitMessage(description, .noPermission) }
        return ExitMessage(description, .usage)
    }
}

/// Writes log messages as lines of standard error, in the form of the command's other messages.
package struct StandardErrorLog: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.notice

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) { StandardError.write("reachability: \(event.message)") }
}

extension Logger {
    /// The logger of a program that runs until a signal ends it.
    package static var standardError: Logger { Logger(label: "reachability") { _ in StandardErrorLog() } }
}
