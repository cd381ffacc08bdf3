package import ArgumentParser

/// `reachability outbox requeue`.
package struct OutboxRequeueArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "requeue",
        abstract: "Put dead letters in again, and print their numbers.",
        usage: "reachability outbox requeue [<options>] <id> ... | --all",
        discussion: """
            Examples: reachability outbox requeue 12 13
                      reachability outbox requeue --all
            Exit status: 0 done, 1 one was not there, 64 usage, 65 corrupt, 66 no file,
            74 disk, 75 busy.

            Each keeps its number and its key, and begins anew to count its attempts.
            """
    )

    @Argument(help: ArgumentHelp("Numbers, as `list --dead` has them.", valueName: "id"))
    package var ids: [Int64] = []

    @Flag(help: "Put all of them in again.")
    package var all = false

    @OptionGroup package var outbox: OutboxChangeArguments

    package init() {}

    package func validate() throws {
        if ids.isEmpty != all { throw ValidationError("Give numbers, or --all.") }
    }
}
