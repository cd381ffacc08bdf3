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
            try enterNamespace()
            try await CommandProcess.run(Self.self)
        } catch {
            CommandProcess.end(Self.self, error)
        }
    }

    /// Moves the program into the network namespace that is named, while there is only this thread. What is parsed here is not handed on,
    /// for it belongs to this thread.
    private static func enterNamespace() throws {
        let command = try parseAsRoot()
        if let query = command as? any ServerQuery { try query.options.enterNamespace() }
    }
}
