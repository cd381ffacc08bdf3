import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxSupport

/// `reachability serve`, a program of its own: event loops and the database would make every other subcommand several times as
/// large, and slower to start. `reachability` becomes this program.
@main
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        subcommands: [Serve.self]
    )

    static func main() {
        CommandProcess.begin()
        _ = Supervision.offer
        // Not on the global queues, which never sleep.
        Task(executorPreference: TaskQueue(label: "reachability.serve")) {
            do {
                try await CommandProcess.run(Self.self)
            } catch {
                CommandProcess.end(Self.self, error)
            }
            Glibc.exit(0)
        }
        dispatchMain()
    }
}
