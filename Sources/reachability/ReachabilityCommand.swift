import ArgumentParser
import Glibc

/// `reachability`: one binary, one subcommand for each question.
@main
struct ReachabilityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        abstract: "Tells whether packets would get through, and when that changes.",
        discussion: """
            The answer is the kernel's own, asked for each destination: route, source address and carrier. \
            No packet is sent.
            """,
        version: "0.1.0",
        subcommands: [Watch.self, Status.self, Record.self, Replay.self]
    )

    static func main() {
        Descriptor.occupyStandardNumbers()
        // A reader that goes away is seen as an error of write(2), not as a signal.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let message as ExitMessage {
            StandardError.write("reachability: \(message.text)")
            Glibc.exit(message.status.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
