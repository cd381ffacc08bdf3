import ArgumentParser
import CommandLineSupport
import Glibc
import ReachabilityOutbox

/// `reachability outbox`, a program of its own: the database brings Foundation, which would make every other subcommand three
/// times as large and slow to start. `reachability` becomes this program.
@main
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = OutboxGroup.configuration(
        name: "reachability outbox",
        subcommands: [Add.self, List.self, Flush.self, Requeue.self, Drop.self]
    )

    static func main() async {
        CommandProcess.begin()
        // A limit of the file's size is seen as an error of write(2) too.
        signal(SIGXFSZ, SIG_IGN)
        do {
            try await CommandProcess.run(Self.self)
        } catch {
            CommandProcess.end(Self.self, (error as? OutboxError).map { ExitMessage($0) } ?? error)
        }
    }
}

/// `reachability outbox drop`: requests that shall not be sent.
struct Drop: AsyncParsableCommand {
    static let configuration = OutboxDropArguments.configuration

    @OptionGroup var arguments: OutboxDropArguments

    func run() async throws {
        try await arguments.outbox.withExisting { outbox in
            var ids = arguments.ids
            if arguments.all { ids += try await outbox.entries().map(\.id) }
            if arguments.dead { ids += try await outbox.deadLetters().map(\.id) }
            try await ids.each("request") { try await outbox.drop($0) }
        }
    }
}
