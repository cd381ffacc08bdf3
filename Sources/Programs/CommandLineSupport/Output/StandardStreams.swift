import Dispatch
import Glibc
package import LinuxSupport
package import Logging
package import NetworkReachability

/// Standard input, output and error as descriptors.
package enum StandardStream {
    /// Makes sure that no socket gets the number of a standard stream that was closed, because output would then go to the kernel. Using
    /// the placeholder fails like using a closed stream.
    package static func occupyNumbers() {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is taken.
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes all of `text`, in one call where the system takes it, so that no other process writes into a line.
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

/// Diagnostics, one line at a time. Lines quote arguments, files and answers of servers, so control characters are escaped.
package enum StandardError {
    /// Whether the stream is a terminal.
    package static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Writes a line that begins with the name of the command.
    @Sendable package static func report(_ text: String) { write("reachability: \(text)") }

    package static func write(_ line: String) {
        // There is no other place to report a failure.
        _ = try? StandardStream.write(Array((line.printableLines + "\n").utf8), to: STDERR_FILENO)
    }

    /// Shows the progress of something on a terminal, in place of the last line shown. An empty text clears the line.
    package static func showProgress(_ text: String) {
        guard isTerminal else { return }
        _ = try? StandardStream.write(Array("\r\u{1b}[K\(text.printable.prefix(79))".utf8), to: STDERR_FILENO)
    }
}

/// Results, one line at a time, each written before the next is made.
package enum StandardOutput {
    /// Whether the stream is a terminal.
    package static let isTerminal = isatty(STDOUT_FILENO) == 1
    /// Whether colours are used: on a terminal, unless `NO_COLOR` is set and not empty (<https://no-color.org>) or `TERM` is `dumb`.
    package static let wantsColour =
        isTerminal && EnvironmentVariable.value(of: "NO_COLOR") == nil
        && EnvironmentVariable.value(of: "TERM") != "dumb"

    /// Writes a line, and returns whether the output is still read. A reader that has closed the pipe is not a failure, because
    /// the result still decides the exit status. Any other failure, such as a full disk, ends the program with a message and the
    /// status of an input/output error.
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

    /// Writes a line for people, with control characters escaped.
    package static func write(text: String) {
        write(Array(text.printable.utf8))
    }

    /// Ends the program without a message when the reader of a pipe or socket leaves, without waiting for the next line.
    package static func endWhenReaderLeaves() {
        var status = stat()
        guard unsafe fstat(STDOUT_FILENO, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            return
        }
        // Dispatch has no event for this: a source would never fire, and its manager would spin. A queue without a
        // target has a thread of its own, which may block.
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

    /// The text in a column of `width` characters.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - utf8.count))
    }
}

/// Text in lines that fit a terminal.
package enum Lines {
    package static let width = 80

    /// Joins phrases with blanks. A phrase is not torn apart.
    ///
    /// - Parameter indentation: The beginning of all lines but the first.
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

/// An error that ends the program with one line on standard error and an exit status.
package protocol ExitError: Error {
    var exitMessage: ExitMessage { get }
}

/// The line on standard error that ends the program, and its exit status.
package struct ExitMessage: ExitError {
    /// Statuses of `sysexits(3)`.
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
    /// The log of a program that runs until a signal ends it.
    package static var standardError: Logger { Logger(label: "reachability") { _ in StandardErrorLog() } }
}
