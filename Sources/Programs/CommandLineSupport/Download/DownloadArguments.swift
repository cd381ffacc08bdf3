package import ArgumentParser

/// `reachability download`.
package struct DownloadArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Fetch a file, and go on where it was cut.",
        usage: "reachability download <url> [<options>]",
        discussion: """
            Examples: reachability download https://example.org/image.iso
                      reachability download --output /srv/image.iso https://example.org/7
            Exit status: 0 the file is there, 64 usage, 65 another digest, 69 no such file,
            given up or not installed, 73 there is one already, or none can be made, 74 the
            disk is full, 75 time is up or another download is under way, 130 or 143 ended.

            It waits for the network as long as that takes. What is here by then, in
            NAME.part, is gone on with: after a cut, a signal or a restart.
            """
    )

    @Argument(help: ArgumentHelp("What to fetch, over http or https.", valueName: "url"))
    package var url: String

    @Option(
        help: ArgumentHelp("Its file; the last part of the URL otherwise.", valueName: "path"),
        completion: .file()
    )
    package var output: String?

    @Option(help: ArgumentHelp("What its SHA-256 must be, else it is deleted.", valueName: "hex"))
    package var sha256: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("When to give up; never otherwise.", valueName: "duration"))
    package var deadline: DurationArgument?

    @Flag(help: "Replace a file that is there.")
    package var force = false

    package init() {}
}
