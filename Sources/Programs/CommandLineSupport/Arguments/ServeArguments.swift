package import ArgumentParser

/// The arguments of `reachability serve`.
package struct ServeArguments: ParsableArguments {
    package static let program = CompanionProgram.tools

    /// Returns the configuration of the command.
    ///
    /// - Parameter subcommands: The subcommands, which do not start a service.
    package static func configuration(subcommands: [any ParsableCommand.Type]) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "serve",
            abstract: "Run the monitoring service: history, web, API, alerts.",
            usage: "reachability serve [<options>]",
            discussion: """
                Examples: reachability serve
                          reachability serve --config /etc/reachability/serve.toml
                Exit status: 0 ended by a signal, 64 usage error, 69 address or socket in use,
                no service, not installed or test not sent, 73 cannot create socket, 74 or 75
                cannot mark history, 77 no permission, 78 invalid configuration.
                """,
            subcommands: subcommands
        )
    }

    @Option(file: "The configuration (default: monitor the network).")
    package var config: String?

    @Option(file: "Print all errors of a configuration, and exit.")
    package var check: String?

    @Option(help: ArgumentHelp("HTTP address, or none (default: 127.0.0.1:9672).", valueName: "address"))
    package var listen: [String] = []

    @OptionGroup package var places: PlaceOptions

    @Flag(help: "Make the running service read its configuration again.")
    package var reload = false

    @Flag(name: .customLong("init"), help: "Ask three questions, and write a configuration.")
    package var initialize = false

    @Flag(help: .rare("With --init: check the gateway, the DNS servers and the network behind them."))
    package var line = false

    @Option(
        name: .customLong("anchor"),
        help: .rare("With --init: your own URL as proof of internet access; repeatable.", "url")
    )
    package var anchors: [String] = []

    @Option(help: .rare("With --init: an e-mail address or the URL of an ntfy topic.", "recipient"))
    package var alert: String?

    @Option(
        help: ArgumentHelp("Send a test to a notifier of --config, and exit.", valueName: "name")
    )
    package var testNotification: String?

    @Flag(help: "Record in the history that a killed service ended now.")
    package var markStopped = false

    package init() {}

    package func validate() throws {
        if !initialize, line || !anchors.isEmpty || alert != nil {
            throw ValidationError("--line, --anchor and --alert require --init.")
        }
        if testNotification != nil, config == nil { throw ValidationError("--test-notification needs --config.") }
        try places.check(isReload: reload)
    }
}

/// The files of a service or a hub, and its URL with `--reload`.
package struct PlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The Unix socket, or none (default: one per user).", valueName: "path"),
        completion: .file()
    )
    package var socket: String?

    @Option(
        help: ArgumentHelp("The history file, or none (default: one per user).", valueName: "path"),
        completion: .file()
    )
    package var history: String?

    @Option(help: .rare("The URL of the service, with --reload.", "url"))
    package var url: String?

    @Option(
        help: .rare("A file that contains the token for --url.", "file"),
        completion: .file()
    )
    package var tokenFile: String?

    package init() {}

    /// Checks the combination of the options.
    ///
    /// - Throws: `ValidationError` if the options exclude or require each other.
    func check(isReload: Bool) throws {
        if url != nil, !isReload { throw ValidationError("--url needs --reload.") }
        try ServicePlace.check(socket: socket, url: url, tokenFile: tokenFile)
    }
}

/// The arguments of `reachability serve token`.
package struct TokenArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Create an access token for clients of the service.",
        usage: "reachability serve token [--name <name>] [--scope <scope>]",
        discussion: """
            Examples: reachability serve token --name phone
                      reachability serve token --name ops --scope admin
            Exit status: 0 created, 64 usage error, 69 not installed.

            The first line is the token for the client. The other lines belong in the
            service's configuration, which contains only the digest of the token.
            """
    )

    @Option(help: ArgumentHelp("The name of the token.", valueName: "name"))
    package var name = "token"

    @Option(help: ArgumentHelp("The permissions: read, or admin for everything.", valueName: "scope"))
    package var scope = "read"

    package init() {}
}
