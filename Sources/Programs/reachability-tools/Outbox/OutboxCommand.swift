import ArgumentParser
import CommandLineSupport
import ReachabilityOutbox

/// `reachability outbox`.
struct OutboxCommand: ParsableCommand {
    static let configuration = OutboxGroup.configuration(
        subcommands: [Add.self, List.self, Flush.self, Requeue.self, Drop.self]
    )
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
