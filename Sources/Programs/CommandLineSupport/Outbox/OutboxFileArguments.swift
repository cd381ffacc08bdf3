package import ArgumentParser

/// Which outbox is meant.
package struct OutboxFileArguments: ParsableArguments {
    @Option(
        name: .customLong("outbox"),
        help: ArgumentHelp("Its file; one of the user's own otherwise.", valueName: "path"),
        completion: .file()
    )
    private var named: String?

    // As it was called before `--file` meant a file of hosts everywhere.
    @Option(name: .customLong("file"), help: .hidden, completion: .file())
    private var namedBefore: String?

    package init() {}

    /// The file that was named; nil without.
    package var file: String? { named ?? namedBefore }

    package func validate() throws {
        if named != nil, namedBefore != nil { throw ValidationError("--file is --outbox: give one of them.") }
    }
}

/// Which outbox is to be changed.
package struct OutboxChangeArguments: ParsableArguments {
    @OptionGroup package var outbox: OutboxFileArguments

    @Flag(help: "Begin a new file when the old one is corrupt.")
    package var replaceCorrupt = false

    package init() {}
}
