import ArgumentParser
import CommandLineSupport
import Glibc
import Netlink
import ReachabilityOutbox

/// `reachability outbox`, a program of its own: the database brings Foundation, which would make every other subcommand three
/// times as large and slow to start. `reachability` becomes this program.
@main
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability outbox",
        abstract: "Keep HTTP requests until they can be delivered.",
        discussion: """
            Requests are on the disk until their server has taken them.
              reachability outbox add --body order.json https://example.org/orders
              reachability outbox flush
            """,
        subcommands: [Add.self, List.self, Flush.self, Drop.self]
    )

    static func main() async {
        StandardStream.occupyNumbers()
        // A reader that goes away is seen as an error of write(2), not as a signal; a limit of the file's size likewise.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as OutboxError {
            end(ExitMessage(error))
        } catch let message as ExitMessage {
            end(message)
        } catch {
            exit(withError: error)
        }
    }

    private static func end(_ message: ExitMessage) -> Never {
        StandardError.write("reachability: \(message.text)")
        Glibc.exit(message.status.rawValue)
    }
}
