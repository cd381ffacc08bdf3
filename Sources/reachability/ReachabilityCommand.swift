import ArgumentParser
import CommandLineSupport
import Netlink

/// `reachability`: one binary, one subcommand for each question.
@main
struct ReachabilityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        abstract: "Tells whether packets would get through, and when that changes.",
        // A screen has no room for it beside the subcommands; the last line of help says how to go on.
        usage: "",
        discussion: """
            Examples: reachability status; reachability watch example.org
            """,
        subcommands: [
            Watch.self, Status.self, Why.self, Wait.self, Run.self, Retry.self, List.self, Record.self, Replay.self,
            Outbox.self, CompanionPart<PinArguments>.self, CompanionPart<TrustArguments>.self,
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
        CommandProcess.begin()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            CommandProcess.end(Self.self, forgottenSubcommand ?? error)
        }
    }

    /// What is wrong with a command line that begins with a host; nil if it does not. A word without a dot or colon is rather a
    /// mistyped subcommand.
    private static var forgottenSubcommand: ExitMessage? {
        let words = CommandLine.arguments.dropFirst()
        guard let first = words.first, !first.hasPrefix("-"), first.contains(where: { ".:".contains($0) }) else {
            return nil
        }
        let line = words.map(\.printable).joined(separator: " ")
        return ExitMessage("no subcommand is given; did you mean: reachability status \(line)", .usage)
    }
}
