package import ArgumentParser

/// What a subcommand of `reachability outbox` may be told, and its help: the same to `reachability`, which parses it and tells of
/// it, and to `reachability-outbox`, which does it.
package protocol OutboxArguments: ParsableArguments {
    /// Name, help and usage.
    static var configuration: CommandConfiguration { get }
}

/// `reachability outbox` itself.
package enum OutboxGroup {
    /// - Parameters:
    ///   - name: What it is called where it stands.
    ///   - subcommands: One for each ``OutboxArguments``.
    package static func configuration(
        name: String,
        subcommands: [any ParsableCommand.Type]
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name,
            abstract: "Keep HTTP requests until they can be delivered.",
            usage: "reachability outbox <subcommand>",
            discussion: """
                Examples: reachability outbox add --body order.json https://example.org/orders
                          reachability outbox flush
                Exit status: 64 usage, 69 not installed; or as each subcommand tells.

                A request is on the disk until its server has taken it, or said that it never will.
                """,
            subcommands: subcommands
        )
    }
}
