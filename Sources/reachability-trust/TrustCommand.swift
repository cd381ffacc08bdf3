import ArgumentParser
import CommandLineSupport

/// `reachability pin` and `reachability trust`, a program of its own: the TLS library would make every other subcommand several times
/// as large, and slower to start. `reachability` becomes this program.
@main
struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        subcommands: [Pin.self, Trust.self]
    )

    static func main() async {
        CommandProcess.begin()
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
