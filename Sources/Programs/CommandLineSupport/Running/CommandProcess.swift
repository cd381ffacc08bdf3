package import ArgumentParser
package import Dispatch
import Glibc
import LinuxSupport

/// The start and the end of every program of this package.
package enum CommandProcess {
    /// Prepares the process: standard streams, signals, memory and the system log. Must be called before anything else.
    package static func begin() {
        StandardStream.reserveClosedNumbers()
        // Dispatch requests a priority without the privilege, and logs the refusal as a notice. This package writes nothing to the
        // system log.
        setlogmask((1 << LOG_NOTICE) - 1)
        // A closed pipe is an error of write(2), not a signal.
        signal(SIGPIPE, SIG_IGN)
        Memory.useSingleArena()
        // The Swift runtime handles SIGQUIT like a crash and prints a backtrace, which may never end.
        signal(SIGQUIT, SIG_DFL)
    }

    /// Runs the subcommand of the command line, and ends the process.
    package static func run<Command: ParsableCommand>(_ root: Command.Type) async {
        do {
            var command = try root.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Glibc.exit(0)
        } catch {
            end(root, error)
        }
    }

    /// Ends the process. Prints the help, the version or the error message of `error` first.
    package static func end<Command: ParsableCommand>(_ command: Command.Type, _ error: any Error) -> Never {
        if let message = (error as? any ExitError)?.exitMessage {
            StandardError.report("\(message.text)")
            Glibc.exit(message.status.rawValue)
        }
        let text = String(command.fullMessage(for: error).shortened.trimmingLastNewlines)
        let status = command.exitCode(for: error).rawValue
        if !text.isEmpty {
            if status == 0 { StandardOutput.write(Array(text.utf8)) } else { StandardError.write(text) }
        }
        Glibc.exit(status)
    }
}

extension String {
    /// The help text with fewer lines: without the section about `--help` if it is the only option, and with the hint next to the list.
    fileprivate var shortened: String {
        replacing(
            "OPTIONS:\n  -h, --help              Show help information.\n\nSUBCOMMANDS:",
            with: "SUBCOMMANDS:"
        ).replacing(scalars: "\n\n  See 'reachability help", with: "\n  See 'reachability help")
    }

    /// The text without newlines at its end.
    fileprivate var trimmingLastNewlines: Substring {
        lastIndex { !$0.isNewline }.map { self[...$0] } ?? ""
    }
}

/// The version of the command, the manual pages and the package.
package enum CommandVersion {
    package static let number = "0.1.0"
    package static let text = "reachability \(number)"
}

/// Errors for words that are not subcommands. Each function returns nil if there is no such error.
package enum MistypedWord {
    /// Returns the error for a first word that is not a subcommand: it is a host, or mistyped.
    package static func subcommand(of command: any ParsableCommand.Type, _ words: [String]) -> ExitMessage? {
        guard let word = words.first, !word.hasPrefix("-"), word != "help" else { return nil }
        let names = command.configuration.subcommands.map { $0._commandName }
        guard !names.contains(word) else { return nil }
        if let name = names.nearest(to: word) {
            let line = ([name] + words.dropFirst()).map(\.printable).joined(separator: " ")
            return ExitMessage("there is no subcommand \(word.printable); did you mean: reachability \(line)", .usage)
        }
        let line = words.map(\.printable).joined(separator: " ")
        return ExitMessage("no subcommand is given; did you mean: reachability status \(line)", .usage)
    }

    /// Returns the error for a word after `help` that is not a subcommand of the words before it.
    package static func help(of command: any ParsableCommand.Type, _ words: [String]) -> ExitMessage? {
        guard words.first == "help" else { return nil }
        var command = command
        var path = "reachability"
        for word in words.dropFirst() where !word.hasPrefix("-") {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else {
                let hint = "`\(path) --help` lists the subcommands"
                return ExitMessage("there is no subcommand \(word.printable); \(hint)", .usage)
            }
            command = next
            path += " \(word)"
        }
        return nil
    }
}

/// A program that `reachability` executes for some of its subcommands. Linked into `reachability`, the libraries of these subcommands
/// would make it several times as large and slower to start.
package struct CompanionProgram: Hashable, Sendable {
    /// The file name of the program.
    package let name: String

    /// The subcommand of `reachability` whose subcommands the program performs. Nil if it performs subcommands of `reachability` itself.
    private let group: String?

    /// The program that is linked with event loops, a TLS library and a database.
    package static let tools = CompanionProgram(name: "reachability-tools", group: nil)

    /// The program that is also linked with libmosquitto, which not every system has.
    package static let fleet = CompanionProgram(name: "reachability-fleet", group: "fleet")

    /// Returns the arguments for the program.
    ///
    /// - Parameter commandLine: The command line of `reachability`, with its name.
    package func arguments(of commandLine: [String]) -> [String] {
        guard let group else { return Array(commandLine.dropFirst()) }
        return Array(commandLine.drop { $0 != group }.dropFirst())
    }
}

/// The arguments and the help of a subcommand that another program performs. Both `reachability` and that program parse them.
package protocol CompanionArguments: ParsableArguments {
    /// The name, the help and the usage of the subcommand.
    static var configuration: CommandConfiguration { get }

    /// The program that performs the subcommand.
    static var program: CompanionProgram { get }
}

/// Signal handlers on a Dispatch queue, active from the return of the initializer until ``cancel()``.
///
/// Before that, each signal has its default effect, so that no signal is lost while a program starts.
package struct SignalSources {
    private let sources: [any DispatchSourceSignal]

    /// - Parameters:
    ///   - queue: The queue that `handler` is called on.
    ///   - handler: Receives the number of each signal.
    package init(
        _ numbers: [CInt],
        onQueue queue: DispatchQueue = .global(),
        _ handler: @escaping @Sendable (CInt) -> Void
    ) {
        sources = numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            let registered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { registered.signal() }
            source.setEventHandler { handler(number) }
            source.activate()
            registered.wait()
            return source
        }
    }

    /// Ends the delivery of signals.
    package func cancel() {
        for source in sources { source.cancel() }
    }
}

/// The signals of a server: SIGINT and SIGTERM end it, and SIGHUP makes it read its configuration again.
package struct EndSignals {
    /// The numbers of the signals that were received.
    package let numbers: AsyncStream<CInt>
    private let sources: SignalSources

    /// Starts to receive the signals, which no longer end the program by default.
    ///
    /// - Parameter reloads: Whether SIGHUP is received too.
    package init(reloads: Bool) {
        let (numbers, continuation) = AsyncStream.makeStream(of: CInt.self)
        self.numbers = numbers
        sources = SignalSources(
            [SIGINT, SIGTERM] + (reloads ? [SIGHUP] : []),
            onQueue: DispatchQueue(label: "reachability.signals")
        ) { continuation.yield($0) }
    }

    /// Waits for SIGINT or SIGTERM, and calls `reload` for each SIGHUP until then.
    package func wait(reload: @Sendable @escaping () -> Void) async {
        let queue = DispatchQueue(label: "reachability.reload")
        for await number in numbers {
            guard number == SIGHUP else { return }
            queue.async(execute: reload)
        }
    }
}
