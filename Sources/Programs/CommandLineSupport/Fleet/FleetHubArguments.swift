package import ArgumentParser

/// `reachability fleet hub`.
package struct FleetHubArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "Follow all machines, and explain their outages.",
        usage: "reachability fleet hub --broker <address> [<options>]",
        discussion: """
            Examples: reachability fleet hub --broker mqtt://127.0.0.1
                      reachability fleet hub --broker mqtts://broker --config hub.toml
            Exit status: 0 ended by a signal, 64 usage, 69 a place is taken, no hub or not
            installed, 73 no socket, 74 no history, 75 another hub has the history, 77 no
            permission, 78 something is wrong in the configuration.
            """
    )

    @Option(help: ArgumentHelp("mqtts://HOST[:PORT], or mqtt:// without TLS.", valueName: "address"))
    package var broker: String?

    @Option(help: ArgumentHelp("What the hub is called by the broker.", valueName: "name"))
    package var name = "hub"

    @Option(
        help: ArgumentHelp("Who may sign the broker's certificate.", valueName: "file"),
        completion: .file()
    )
    package var authority: String?

    @Option(help: ArgumentHelp("The hub's certificate.", valueName: "file"), completion: .file())
    package var certificate: String?

    @Option(help: ArgumentHelp("Its key.", valueName: "file"), completion: .file())
    package var key: String?

    @Option(
        help: ArgumentHelp("Who is let in, and who is told, as serve has it.", valueName: "file"),
        completion: .file()
    )
    package var config: String?

    @Option(
        help: ArgumentHelp("Tell all that is wrong in such a file, and end.", valueName: "file"),
        completion: .file()
    )
    package var check: String?

    @Option(help: ArgumentHelp("Its address, or none (default: 127.0.0.1:9673).", valueName: "address"))
    package var listen: [String] = []

    @Option(
        help: ArgumentHelp("Its Unix socket, or none; one of the user's own else.", valueName: "path"),
        completion: .file()
    )
    package var socket: String?

    @Option(
        help: ArgumentHelp("Its history, or none; one of the user's own else.", valueName: "path"),
        completion: .file()
    )
    package var history: String?

    @Flag(help: "Let the hub read its configuration again.")
    package var reload = false

    package init() {}
}
