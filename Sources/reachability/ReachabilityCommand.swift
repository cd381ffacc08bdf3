import ArgumentParser
import Glibc
import Netlink

/// `reachability`: one binary, one subcommand for each question.
@main
struct ReachabilityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        abstract: "Tells whether packets would get through, and when that changes.",
        discussion: """
            Examples: reachability status
                      reachability watch example.org
            """,
        subcommands: [
            Watch.self, Status.self, Why.self, Wait.self, Run.self, Retry.self, List.self, Record.self, Replay.self,
        ]
    )

    @Flag(help: "Show the version.")
    var version = false

    func validate() throws {
        if version { throw CleanExit.message(CommandVersion.text) }
    }

    func run() throws {
        throw CleanExit.helpRequest(self)
    }

    static func main() {
        Descriptor.occupyStandardNumbers()
        // A reader that goes away is seen as an error of write(2), not as a signal.
        signal(SIGPIPE, SIG_IGN)
        Memory.shareOnePool()
        // The Swift runtime takes it for a crash and wants to print a backtrace, which may never end.
        signal(SIGQUIT, SIG_DFL)
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let message as ExitMessage {
            StandardError.write("reachability: \(message.text)")
            Glibc.exit(message.status.rawValue)
        } catch {
            end(error)
        }
    }

    /// Help, the version, an exit status without words, or a command line that cannot be understood.
    private static func end(_ error: any Error) -> Never {
        let text = String(fullMessage(for: error).trimmingLastNewlines)
        let status = exitCode(for: error).rawValue
        if !text.isEmpty {
            if status == 0 { StandardOutput.write(Array(text.utf8)) } else { StandardError.write(text) }
        }
        Glibc.exit(status)
    }
}

extension String {
    /// Help ends with an empty line that a screen of 24 lines has no room for.
    fileprivate var trimmingLastNewlines: Substring {
        lastIndex { !$0.isNewline }.map { self[...$0] } ?? ""
    }
}
