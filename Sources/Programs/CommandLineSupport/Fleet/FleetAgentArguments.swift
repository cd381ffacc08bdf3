package import ArgumentParser

/// `reachability fleet agent`.
package struct FleetAgentArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Follow the service here, and tell a broker of it.",
        usage: "reachability fleet agent --broker <address> --site <name> --device <name>\n"
            + "reachability fleet agent --config <file>",
        discussion: """
            Examples: reachability fleet agent --broker mqtts://hub --site hq --device door
                      reachability fleet agent --config /etc/reachability/serve.toml
            Exit status: 0 ended by a signal, 64 usage, 69 not installed, 73 no state,
            75 another agent has the state, 78 something is wrong in the configuration.
            """
    )

    @Option(
        help: ArgumentHelp("The service's file: its [fleet] says all the rest.", valueName: "file"),
        completion: .file()
    )
    package var config: String?

    @Option(help: ArgumentHelp("The broker: mqtts://HOST[:PORT]; mqtt:// without TLS.", valueName: "address"))
    package var broker: String?

    @Option(help: ArgumentHelp("Where the machine is.", valueName: "name"))
    package var site: String?

    @Option(help: ArgumentHelp("What it is called there, and to the broker.", valueName: "name"))
    package var device: String?

    @Option(
        help: ArgumentHelp("Who may sign the broker's certificate.", valueName: "file"),
        completion: .file()
    )
    package var authority: String?

    @Option(help: ArgumentHelp("The machine's certificate.", valueName: "file"), completion: .file())
    package var certificate: String?

    @Option(help: ArgumentHelp("Its key, if not in the same file.", valueName: "file"), completion: .file())
    package var key: String?

    @Option(
        help: ArgumentHelp("The service's Unix socket, if not the usual one.", valueName: "path"),
        completion: .file()
    )
    package var socket: String?

    @Option(
        help: ArgumentHelp("What the broker has, or none; one of its own else.", valueName: "path"),
        completion: .file()
    )
    package var state: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The longest wait to connect again (default: 5s).", valueName: "duration")
    )
    package var jitter: DurationArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How often to say how it is.", valueName: "duration", visibility: .hidden)
    )
    package var refresh: DurationArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long the broker waits for it.", valueName: "duration", visibility: .hidden)
    )
    package var willDelay: DurationArgument?

    @Option(help: ArgumentHelp("Do this when asked: check or report; repeatable.", valueName: "command"))
    package var allow: [String] = []

    package init() {}
}
