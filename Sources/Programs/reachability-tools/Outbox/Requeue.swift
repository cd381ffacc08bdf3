import ArgumentParser
import CommandLineSupport
import ReachabilityOutbox

/// `reachability outbox requeue`: dead letters that shall be sent after all.
struct Requeue: AsyncParsableCommand {
    static let configuration = OutboxRequeueArguments.configuration

    @OptionGroup var arguments: OutboxRequeueArguments

    func run() async throws {
        try await arguments.outbox.withExisting { outbox in
            let ids = arguments.all ? try await outbox.deadLetters().map(\.id) : arguments.ids
            try await ids.each("dead letter") { try await outbox.requeue($0) }
        }
    }
}

extension [OutboxEntry.ID] {
    /// Does something to each, prints the numbers of those that were there, and says which were not.
    func each(_ noun: String, _ work: (OutboxEntry.ID) async throws -> Bool) async throws {
        var missing: [OutboxEntry.ID] = []
        for id in self {
            if try await work(id) { StandardOutput.write(text: "\(id)") } else { missing.append(id) }
        }
        for id in missing { StandardError.write("reachability: there is no \(noun) \(id)") }
        if !missing.isEmpty { throw ExitCode(1) }
    }
}
