import ArgumentParser
import CommandLineSupport

/// `reachability serve`, a program of its own: event loops and the database would make every other subcommand several times as
/// large, and slower to start. `reachability` becomes this program.
@main
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        subcommands: [Serve.self]
    )

    static func main() async {
        CommandProcess.begin()
        _ = Supervision.offer
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            CommandProcess.end(Self.self, error)
        }
    }
}
