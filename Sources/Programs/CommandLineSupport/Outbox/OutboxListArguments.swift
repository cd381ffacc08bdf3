package import ArgumentParser

/// `reachability outbox list`.
package struct OutboxListArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print what waits, then the dead letters, and why.",
        usage: "reachability outbox list [<options>]",
        discussion: """
            Examples: reachability outbox list
                      reachability outbox list --dead --json
            Exit status: 0 printed, 64 usage, 65 corrupt, 66 no file, 74 disk, 75 busy.

            The file is only read. Headers, bodies, and URLs beyond their host may be
            secrets: they are not shown.
            """
    )

    @Flag(help: "Print the dead letters only.")
    package var dead = false

    @Flag(help: "Print one JSON object per line (schema 1).")
    package var json = false

    @OptionGroup package var outbox: OutboxFileArguments

    package init() {}
}
