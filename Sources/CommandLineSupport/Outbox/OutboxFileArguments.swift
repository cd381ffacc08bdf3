package import ArgumentParser

/// Which outbox is meant.
package struct OutboxFileArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The outbox; one of the user's own otherwise.", valueName: "path"), completion: .file())
    package var file: String?

    package init() {}
}

/// Which outbox is to be changed.
package struct OutboxChangeArguments: ParsableArguments {
    @OptionGroup package var outbox: OutboxFileArguments

    @Flag(help: "Begin a new file when the old one is corrupt.")
    package var replaceCorrupt = false

    package init() {}
}
