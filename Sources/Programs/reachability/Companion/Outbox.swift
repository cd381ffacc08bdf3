import ArgumentParser
import CommandLineSupport

/// `reachability outbox`, done by ``CompanionProgram/outbox``.
struct Outbox: ParsableCommand {
    static let configuration = OutboxGroup.configuration(
        name: "outbox",
        subcommands: [
            CompanionPart<OutboxAddArguments>.self, CompanionPart<OutboxListArguments>.self,
            CompanionPart<OutboxFlushArguments>.self, CompanionPart<OutboxRequeueArguments>.self,
            CompanionPart<OutboxDropArguments>.self,
        ]
    )
}
