package import ArgumentParser

/// `reachability outbox` itself.
package enum OutboxGroup {
    /// - Parameter subcommands: One for each ``CompanionArguments`` of it.
    package static func configuration(subcommands: [any ParsableCommand.Type]) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "outbox",
            abstract: "Keep HTTP requests until they can be delivered.",
            usage: "reachability outbox <subcommand>",
            discussion: """
                Examples: reachability outbox add --body order.json https://example.org/orders
                          reachability outbox flush
                Exit status: 64 usage, 69 not installed; or as each subcommand tells.

                A request is on the disk until its server has taken it. What is refused is kept
                as a dead letter, until `requeue` or `drop`.
                """,
            subcommands: subcommands
        )
    }
}
