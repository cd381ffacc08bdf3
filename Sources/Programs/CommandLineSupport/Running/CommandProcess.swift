package import ArgumentParser
package import Dispatch
import Glibc
import LinuxSupport

/// The beginning and the end of every program of this package.
package enum CommandProcess {
    /// Prepares the process. Must be called first.
    package static func begin() {
        StandardStream.occupyNumbers()
        // Dispatch requests a priority that needs privileges, and logs its refusal as a notice. This package writes nothing to the
        // system's log.
        setlogmask((1 << LOG_NOTICE) - 1)
        // A reader that leaves is an error of write(2), not a signal.
        signal(SIGPIPE, SIG_IGN)
        Memory.shareOnePool()
        // The Swift runtime treats it as a crash and prints a backtrace, which may never end.
        signal(SIGQUIT, SIG_DFL)
    }

    /// Runs the subcommand that the command line names, and ends the process.
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

    /// Ends the process with help, the version, an exit status, a message, or an error of the command line.
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
    /// Help of a command that has only subcommands, without the paragraph about `--help`, because the subcommands need the space. The
    /// root, which has the most and shows no usage, needs two more lines.
    fileprivate var shortened: String {
        let text = replacing(
            "OPTIONS:\n  -h, --help              Show help information.\n\nSUBCOMMANDS:",
            with: "SUBCOMMANDS:"
        ).replacing(scalars: "\n\n  See 'reachability help", with: "\n  See 'reachability help")
        if text.contains("\nUSAGE:") { return text }
        return text.replacing(scalars: "\n\nSUBCOMMANDS:", with: "\nSUBCOMMANDS:").replacing(
            "\n\nExamples:",
            with: "\nExamples:"
        )
    }

    /// Removes the last empty line of help, so that help fits 24 lines.
    fileprivate var trimmingLastNewlines: Substring {
        lastIndex { !$0.isNewline }.map { self[...$0] } ?? ""
    }
}

/// The version of the command, of its manual pages and of its package.
package enum CommandVersion {
    package static let number = "0.1.0"
    package static let text = "reachability \(number)"
}

/// Errors of a command line whose words are not subcommands. Each function returns nil if they are.
package enum MistypedWord {
    /// The first word is not a subcommand: a host, or a mistyped subcommand.
    package static func subcommand(of command: any ParsableCommand.Type, _ words: [String]) -> ExitMessage? {
        guard let word = words.first, !word.hasPrefix("-"), word != "help" else { return nil }
        let names = command.configuration.subcommands.map { $0._commandName }
        guard !names.contains(word) else { return nil }
        if let name = nearest(to: word, of: names) {
            let line = ([name] + words.dropFirst()).map(\.printable).joined(separator: " ")
            return ExitMessage("there is no subcommand \(word.printable); did you mean: reachability \(line)", .usage)
        }
        let line = words.map(\.printable).joined(separator: " ")
        return ExitMessage("no subcommand is given; did you mean: reachability status \(line)", .usage)
    }

    /// A word after `help` is not a subcommand of the word before it.
    package static func help(of command: any ParsableCommand.Type, _ words: [String]) -> ExitMessage? {
        guard words.first == "help" else { return nil }
        var command = command
        var path = "reachability"
        for word in words.dropFirst() where !word.hasPrefix("-") {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else {
                let hint = "`\(path) --help` shows those there are"
                return ExitMessage("there is no subcommand \(word.printable): \(hint)", .usage)
            }
            command = next
            path += " \(word)"
        }
        return nil
    }

    /// The most similar name, which differs by at most two letters and by at most half of its letters.
    private static func nearest(to word: String, of names: [String]) -> String? {
        let distances = names.map { (name: $0, distance: distance(Array(word), Array($0))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= min(2, best.name.count / 2) ? best.name : nil
    }

    /// The number of letters to insert, delete or replace (Levenshtein).
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var next = [index + 1]
            for (column, otherLetter) in other.enumerated() {
                next.append(min(row[column] + (letter == otherLetter ? 0 : 1), row[column + 1] + 1, next[column] + 1))
            }
            row = next
        }
        return row[other.count]
    }
}

/// A program that `reachability` executes for some of its subcommands. The libraries that they need would make `reachability` several
/// times as large, and slower to start.
package struct CompanionProgram: Hashable, Sendable {
    /// The name of its file.
    package let name: String

    /// The subcommand of `reachability` whose subcommands it performs; nil for subcommands of `reachability` itself.
    private let group: String?

    /// The program that is linked with event loops, a TLS library and a database.
    package static let tools = CompanionProgram(name: "reachability-tools", group: nil)

    /// The program that is also linked with libmosquitto, which not every system has.
    package static let fleet = CompanionProgram(name: "reachability-fleet", group: "fleet")

    /// Returns the arguments for the program, unchanged.
    ///
    /// - Parameter commandLine: The command line of `reachability`, with its name.
    package func arguments(of commandLine: [String]) -> [String] {
        guard let group else { return Array(commandLine.dropFirst()) }
        return Array(commandLine.drop { $0 != group }.dropFirst())
    }
}

/// The arguments and the help of a subcommand that another program performs. Both `reachability` and that program parse them.
package protocol CompanionArguments: ParsableArguments {
    /// Name, help and usage.
    static var configuration: CommandConfiguration { get }

    /// The program that performs the subcommand.
    static var program: CompanionProgram { get }
}

/// Reports signals to a closure, from the return of the initializer until ``cancel()``.
///
/// Until then a signal has its former effect, so that none is lost while a program starts.
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

    /// Ends the reports.
    package func cancel() {
        for source in sources { source.cancel() }
    }
}

/// SIGINT and SIGTERM, which end a server, and SIGHUP if it reads its configuration again.
package struct EndSignals {
    /// The numbers of the signals that were received.
    package let numbers: AsyncStream<CInt>
    private let sources: SignalSources

    /// After this none of the signals ends the program.
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
