package import ArgumentParser
import LinuxSupport

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

/// `reachability outbox flush`.
package struct OutboxFlushArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "flush",
        abstract: "Send what can be sent now, and print what came of it.",
        usage: "reachability outbox flush [<options>]",
        discussion: """
            Examples: reachability outbox flush
                      reachability outbox flush --with /usr/local/bin/send-signed
            Exit status: 0 nothing is left, 64 usage, 65 one was refused or expired, or the
            file is corrupt, 66 no file, 74 disk, 75 something is left or is being sent.

            Sends by itself, through the proxy of https_proxy and http_proxy, or with a
            program, which gets the request on its standard input and ends with 0 for
            delivered, 65 for never, any other status for later.
            """
    )

    @Option(
        help: ArgumentHelp("A program that sends each request.", valueName: "program"),
        completion: .file()
    )
    package var with: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long one request may take; 60s otherwise.", valueName: "duration")
    )
    package var timeout: DurationArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Give a request up after so many; 1000 otherwise.", valueName: "number")
    )
    package var attempts: Int?

    @Option(
        help: ArgumentHelp(
            "What shows that a success is the server's own: status=N, header=NAME: VALUE or body=TEXT.",
            valueName: "answer"
        )
    )
    package var expect: String?

    @OptionGroup package var outbox: OutboxChangeArguments

    package init() {}

    package func validate() throws {
        try check("--attempts", attempts)
        if expect != nil, with != nil { throw ValidationError("--expect is for sending without --with.") }
        // It was the default, and got its settings in a way of its own.
        if with?.split(at: "/").last == "curl" {
            throw ValidationError(
                "curl is not needed any more: leave --with out, or name a program that reads the request."
            )
        }
    }
}

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
