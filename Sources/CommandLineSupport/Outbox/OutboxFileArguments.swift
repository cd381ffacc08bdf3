package import ArgumentParser

/// Which outbox is meant.
package struct OutboxFileArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The outbox; one of the user's own otherwise.", valueName: "path"), completion: .file())
    package var file: String?

    @Flag(help: "Begin a new file when the old one is corrupt.")
    package var replaceCorrupt = false

    package init() {}
}
