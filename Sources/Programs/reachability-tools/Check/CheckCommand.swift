import ArgumentParser
import CommandLineSupport

/// `reachability check`, and what goes on with one, a program of its own: event loops and the TLS library would make every other subcommand several times as large,
/// and slower to start. `reachability` becomes this program.
@main
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        subcommands: [Check.self, Verdicts.self, UntilWorks.self]
    )

    static func main() async {
        CommandProcess.begin()
        do {
            try await CommandProcess.run(Self.self)
        } catch {
            CommandProcess.end(Self.self, error)
        }
    }
}
