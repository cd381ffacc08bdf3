package import ArgumentParser

/// `reachability outbox drop`.
package struct OutboxDropArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Delete requests unsent, and print their numbers.",
        usage: "reachability outbox drop [<options>] <id> ... | --all | --dead",
        discussion: """
            Examples: reachability outbox drop 12 13
                      reachability outbox drop --all
            Exit status: 0 dropped, 1 one was not there, 64 usage, 65 corrupt, 66 no file,
            74 disk, 75 busy.
            """
    )

    @Argument(help: ArgumentHelp("Numbers, as `list` has them.", valueName: "id"))
    package var ids: [Int64] = []

    @Flag(help: "Delete all that wait.")
    package var all = false

    @Flag(help: "Delete all dead letters.")
    package var dead = false

    @OptionGroup package var outbox: OutboxChangeArguments

    package init() {}

    package func validate() throws {
        if ids.isEmpty != (all || dead) { throw ValidationError("Give numbers, or --all or --dead.") }
    }
}
