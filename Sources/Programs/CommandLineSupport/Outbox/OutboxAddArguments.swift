package import ArgumentParser

/// `reachability outbox add`.
package struct OutboxAddArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Put a request in, and print its number.",
        usage: "reachability outbox add [<options>] <url>",
        discussion: """
            Examples: reachability outbox add --key 7 --body 7.json https://example.org/
                      reachability outbox add --header @token.txt https://example.org/ping
            Exit status: 0 done, 64 usage, 65 corrupt, 66 no file, 74 disk, 75 full.
            """
    )

    @Argument(help: "An absolute http or https URL.")
    package var url: String

    @Option(help: ArgumentHelp("What to do with it.", valueName: "method"))
    package var method = "POST"

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp("\"Name: value\", or @FILE of such lines; repeatable.", valueName: "header")
    )
    package var headers: [String] = []

    @Option(help: ArgumentHelp("The content, in a file; - is standard input.", valueName: "file"), completion: .file())
    package var body: String?

    @Option(help: ArgumentHelp("What it does, in a word: kept once for each.", valueName: "key"))
    package var key: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The higher, the sooner.", valueName: "number"))
    package var priority = 0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Throw it away unsent after so long; 7 days otherwise.", valueName: "duration")
    )
    package var expires: DurationArgument?

    @Option(parsing: .unconditional, help: ArgumentHelp("How many it may hold; 10000 otherwise.", valueName: "number"))
    package var maxCount: Int?

    @Flag(help: "Let dead letters, then the oldest, make room.")
    package var dropOldest = false

    @OptionGroup package var outbox: OutboxChangeArguments

    package init() {}

    package func validate() throws {
        try check("--max-count", maxCount)
        try check("--priority", priority, in: -1_000_000_000...1_000_000_000)
    }
}
