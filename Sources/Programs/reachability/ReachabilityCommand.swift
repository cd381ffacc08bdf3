import ArgumentParser
import CommandLineSupport
import LinuxPrimitives

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
            Watch.self, Status.self, Why.self, CompanionPart<CheckArguments>.self, Wait.self, Run.self, Retry.self,
            List.self, Record.self, Replay.self,
            Outbox.self, CompanionPart<PinArguments>.self, CompanionPart<TrustArguments>.self,
        ]
    )

    // Hidden for want of a line: a screen has 24.
    @Flag(help: ArgumentHelp("Show the version.", visibility: .hidden))
    var version = false

    func validate() throws {
        if version { throw CleanExit.message(CommandVersion.text) }
    }

    func run() throws {
        throw CleanExit.helpRequest(self)
    }

    static func main() {
        CommandProcess.begin()
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            if let mistake = MistypedWord.help(of: Self.self, words) { throw mistake }
            var command = try parseAsRoot()
            try command.run()
        } catch {
            CommandProcess.end(Self.self, MistypedWord.subcommand(of: Self.self, words) ?? error)
        }
    }
}
