package import ArgumentParser
import LinuxSupport

/// The configuration of `reachability outbox`.
package enum OutboxGroup {
    /// Returns the configuration of the command.
    ///
    /// - Parameter subcommands: One command for each ``CompanionArguments``.
    package static func configuration(subcommands: [any ParsableCommand.Type]) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "outbox",
            abstract: "Store HTTP requests until they can be delivered.",
            usage: "reachability outbox <subcommand>",
            discussion: """
                Examples: reachability outbox add --body order.json https://example.org/orders
                          reachability outbox flush
                Exit status: 64 usage error, 69 not installed; others: see each subcommand.

                A request stays on the disk until its server has accepted it. A refused request
                is kept as a dead letter until `requeue` or `drop`.
                """,
            subcommands: subcommands
        )
    }
}

/// The options that select an outbox.
package struct OutboxFileArguments: ParsableArguments {
    @Option(
        name: .customLong("outbox"),
        help: ArgumentHelp("The file of the outbox (default: one per user).", valueName: "path"),
        completion: .file()
    )
    private var named: String?

    // The former name of the option, before `--file` became the name for a file of hosts in all commands.
    @Option(name: .customLong("file"), help: .hidden, completion: .file())
    private var namedBefore: String?

    package init() {}

    /// The given file; nil for the default.
    package var file: String? { named ?? namedBefore }

    package func validate() throws {
        if named != nil, namedBefore != nil { throw ValidationError("--file and --outbox are the same: give one.") }
    }
}

/// The options that select an outbox to change.
package struct OutboxChangeArguments: ParsableArguments {
    @OptionGroup package var outbox: OutboxFileArguments

    @Flag(help: "Replace a corrupt file by an empty outbox.")
    package var replaceCorrupt = false

    package init() {}
}

/// The arguments of `reachability outbox add`.
package struct OutboxAddArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Store a request, and print its number.",
        usage: "reachability outbox add [<options>] <url>",
        discussion: """
            Examples: reachability outbox add --key 7 --body 7.json https://example.org/
                      reachability outbox add --header @token.txt https://example.org/ping
            Exit status: 0 stored, 64 usage error, 65 corrupt, 66 cannot open file, 74 disk
            error, 75 full.
            """
    )

    @Argument(help: "An absolute URL, http or https.")
    package var url: String

    @Option(help: ArgumentHelp("The HTTP method.", valueName: "method"))
    package var method = "POST"

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp("\"Name: value\", or @FILE of header lines; repeatable.", valueName: "header")
    )
    package var headers: [String] = []

    @Option(file: "The file of the request body; - is standard input.")
    package var body: String?

    @Option(help: ArgumentHelp("Store only one request per key.", valueName: "key"))
    package var key: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The priority; higher numbers are sent first.", valueName: "number")
    )
    package var priority = 0

    @Option(duration: "Delete it if unsent after this time (default: 7d).")
    package var expires: DurationArgument?

    @Option(number: "The maximum number of requests (default: 10000).")
    package var maxCount: Int?

    @Flag(help: "If full, delete dead letters, then the oldest requests.")
    package var dropOldest = false

    @OptionGroup package var outbox: OutboxChangeArguments

    package init() {}

    package func validate() throws {
        try check("--max-count", maxCount)
        try check("--priority", priority, in: -1_000_000_000...1_000_000_000)
    }
}

/// The arguments of `reachability outbox list`.
package struct OutboxListArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the waiting requests and the dead letters.",
        usage: "reachability outbox list [<options>]",
        discussion: """
            Examples: reachability outbox list
                      reachability outbox list --dead --json
            Exit status: 0 printed, 64 usage error, 65 corrupt, 66 cannot open file, 74
            disk error, 75 busy.

            The file is not changed. Headers, bodies and URLs are not printed, because they
            may contain secrets. Only the host of a URL is printed.
            """
    )

    @Flag(help: "Print only the dead letters.")
    package var dead = false

    @Flag(help: "Print one JSON object per line (schema 1).")
    package var json = false

    @OptionGroup package var outbox: OutboxFileArguments

    package init() {}
}

/// The arguments of `reachability outbox flush`.
package struct OutboxFlushArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "flush",
        abstract: "Send the waiting requests, and print each result.",
        usage: "reachability outbox flush [<options>]",
        discussion: """
            Examples: reachability outbox flush
                      reachability outbox flush --with /usr/local/bin/send-signed
            Exit status: 0 no request is left, 64 usage error, 65 a request was refused or
            expired, or corrupt, 66 cannot open file, 74 disk error, 75 requests are left
            or another process is sending.

            Requests are sent directly, or through the proxy of https_proxy and http_proxy.
            With --with, a program sends them: it reads one request from standard input,
            and exits with 0 if it was delivered, with 65 if it never can be, and with any
            other status to try again later.
            """
    )

    @Option(
        help: ArgumentHelp("The program that sends each request.", valueName: "program"),
        completion: .file()
    )
    package var with: String?

    @Option(duration: "The maximum time of one request (default: 60s).")
    package var timeout: DurationArgument?

    @Option(number: "The maximum number of attempts (default: 1000).")
    package var attempts: Int?

    @Option(
        help: ArgumentHelp(
            "Proof of a success: status=N, header=NAME: VALUE or body=TEXT.",
            valueName: "answer"
        )
    )
    package var expect: String?

    @OptionGroup package var outbox: OutboxChangeArguments

    package init() {}

    package func validate() throws {
        try check("--attempts", attempts)
        if expect != nil, with != nil { throw ValidationError("--expect and --with exclude each other.") }
        // curl was the default program of an earlier version.
        if with?.split(at: "/").last == "curl" {
            throw ValidationError(
                "curl is not needed: omit --with, or name a program that reads the request from standard input."
            )
        }
    }
}

/// The arguments of `reachability outbox requeue`.
package struct OutboxRequeueArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "requeue",
        abstract: "Send dead letters again, and print their numbers.",
        usage: "reachability outbox requeue [<options>] <id> ... | --all",
        discussion: """
            Examples: reachability outbox requeue 12 13
                      reachability outbox requeue --all
            Exit status: 0 done, 1 unknown number, 64 usage error, 65 corrupt, 66 cannot
            open file, 74 disk error, 75 busy.

            Each request keeps its number and its key. Its attempts are counted from 0
            again.
            """
    )

    @Argument(help: ArgumentHelp("The numbers that `list --dead` prints.", valueName: "id"))
    package var ids: [Int64] = []

    @Flag(help: "Send all dead letters again.")
    package var all = false

    @OptionGroup package var outbox: OutboxChangeArguments

    package init() {}

    package func validate() throws {
        if ids.isEmpty != all { throw ValidationError("Give numbers, or --all.") }
    }
}

/// The arguments of `reachability outbox drop`.
package struct OutboxDropArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Delete unsent requests, and print their numbers.",
        usage: "reachability outbox drop [<options>] <id> ... | --all | --dead",
        discussion: """
            Examples: reachability outbox drop 12 13
                      reachability outbox drop --all
            Exit status: 0 deleted, 1 unknown number, 64 usage error, 65 corrupt, 66 cannot
            open file, 74 disk error, 75 busy.
            """
    )

    @Argument(help: ArgumentHelp("The numbers that `list` prints.", valueName: "id"))
    package var ids: [Int64] = []

    @Flag(help: "Delete all waiting requests.")
    package var all = false

    @Flag(help: "Delete all dead letters.")
    package var dead = false

    @OptionGroup package var outbox: OutboxChangeArguments

    package init() {}

    package func validate() throws {
        if ids.isEmpty != (all || dead) { throw ValidationError("Give numbers, or --all or --dead.") }
    }
}
