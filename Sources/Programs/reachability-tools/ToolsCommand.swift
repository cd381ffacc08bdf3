import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxSupport
import ReachabilityOutbox

/// The program for the subcommands of `reachability` that need event loops, the TLS library or the database. `reachability` executes it,
/// and itself stays small and starts fast.
@main
struct ToolsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        subcommands: [
            Check.self, Verdicts.self, UntilWorks.self, Serve.self, Download.self, OutboxCommand.self, Pin.self,
            Trust.self,
        ]
    )

    static func main() {
        CommandProcess.begin()
        switch CommandLine.arguments.dropFirst().first {
        case "serve":
            _ = Supervision.offer
            // The threads of the global queues never sleep.
            Task(executorPreference: TaskQueue(label: "reachability.serve")) { await CommandProcess.run(Self.self) }
        case "download", "outbox":
            // write(2) then reports a file that is too large as an error.
            signal(SIGXFSZ, SIG_IGN)
            Task { @MainActor in await CommandProcess.run(Self.self) }
        case "pin", "trust":
            enterNamespace()
            Task { @MainActor in await CommandProcess.run(Self.self) }
        default:
            Task { @MainActor in await CommandProcess.run(Self.self) }
        }
        dispatchMain()
    }

    /// Enters the network namespace of `--netns` while the process has one thread. The parsed command cannot be passed to another thread,
    /// so the arguments are parsed again later.
    private static func enterNamespace() {
        do {
            let command = try parseAsRoot()
            if let query = command as? any ServerQuery { try query.options.enterNamespace() }
        } catch {
            CommandProcess.end(Self.self, error)
        }
    }
}
