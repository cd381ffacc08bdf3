import ArgumentParser
import CommandLineSupport

/// `reachability outbox`: parsed here, so that help, completions and refusals are those of every subcommand, and done by
/// `reachability-outbox`. Its database brings Foundation, which would make all others several times as large, and slower to start.
struct Outbox: ParsableCommand {
    static let configuration = OutboxGroup.configuration(
        name: "outbox",
        subcommands: [
            OutboxPart<OutboxAddArguments>.self, OutboxPart<OutboxListArguments>.self,
            OutboxPart<OutboxFlushArguments>.self, OutboxPart<OutboxDropArguments>.self,
        ]
    )
}
