package import ArgumentParser
import Glibc
import LinuxSupport

/// How a command begins and ends: the same for every program of ours.
package enum CommandProcess {
    /// To be called before anything else.
    package static func begin() {
        StandardStream.occupyNumbers()
        // Dispatch asks for a priority that users without privileges do not get, and says so there, as a notice. Nothing of
        // ours is written there at all.
        setlogmask((1 << LOG_NOTICE) - 1)
        // A reader that goes away is seen as an error of write(2), not as a signal.
        signal(SIGPIPE, SIG_IGN)
        Memory.shareOnePool()
        // The Swift runtime takes it for a crash and wants to print a backtrace, which may never end.
        signal(SIGQUIT, SIG_DFL)
    }

    /// Runs what the command line names, to its end.
    ///
    /// - Throws: What ``end(_:_:)`` takes.
    package static func run<Command: ParsableCommand>(_ root: Command.Type) async throws {
        var command = try root.parseAsRoot()
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    /// Ends with help, the version, an exit status without words, a sentence of ours, or what is wrong with the command line.
    package static func end<Command: ParsableCommand>(_ command: Command.Type, _ error: any Error) -> Never {
        if let message = error as? ExitMessage {
            StandardError.write("reachability: \(message.text)")
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
    /// Help of what has subcommands alone, without the paragraph that says that `--help` shows help: they need the room. The root, which
    /// has the most of them and shows no usage, needs two more lines.
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

    /// Help ends with an empty line that a screen of 24 lines has no room for.
    fileprivate var trimmingLastNewlines: Substring {
        lastIndex { !$0.isNewline }.map { self[...$0] } ?? ""
    }
}

/// The version of the command, of its manual pages and of its package: nothing else says it.
package enum CommandVersion {
    package static let number = "0.1.0"
    package static let text = "reachability \(number)"
}
