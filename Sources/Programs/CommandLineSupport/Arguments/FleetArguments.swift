package import ArgumentParser

/// `reachability fleet` itself.
package enum FleetGroup {
    /// - Parameters:
    ///   - name: The name of the command.
    ///   - subcommands: One for each ``CompanionArguments`` of it.
    package static func configuration(
        name: String,
        subcommands: [any ParsableCommand.Type]
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name,
            abstract: "Explain the outages of many machines.",
            usage: "reachability fleet <subcommand>",
            discussion: """
                Examples: reachability fleet agent --broker mqtts://hub --site hq --device door
                          reachability fleet hub --broker mqtts://broker
                Exit status: 64 usage, 69 not installed; or as each subcommand tells.
                """,
            subcommands: subcommands
        )
    }
}

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

    @OptionGroup package var places: PlaceOptions

    @Flag(help: "Let the hub read its configuration again.")
    package var reload = false

    package init() {}

    package func validate() throws { try places.check(isReload: reload) }
}

/// `reachability fleet devices`.
package struct FleetDevicesArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Print a hub's machines, and how they are.",
        usage: "reachability fleet devices [<options>]",
        discussion: """
            Examples: reachability fleet devices --unexplained
                      reachability fleet devices --site hq --json
            Exit status: 0 printed, 64 usage or no such site, 69 no hub or not installed,
            74 output, 77 no permission.

            A hub is `reachability fleet hub`; it is asked over its Unix socket.
            """
    )

    @Option(help: ArgumentHelp("Of this site alone.", valueName: "name"))
    package var site: String?

    @Flag(help: "Those alone that are silent, and nobody knows why.")
    package var unexplained = false

    @OptionGroup package var options: ServiceOptions

    package init() {}
}

/// `reachability fleet incidents`.
package struct FleetIncidentsArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "incidents",
        abstract: "Print the incidents a hub knows, latest first.",
        usage: "reachability fleet incidents [<options>] [<incident>]",
        discussion: """
            Examples: reachability fleet incidents --open
                      reachability fleet incidents --json hq-mifd7k3a-door-7
            Exit status: 0 printed, 64 usage or no such incident, 69 no hub or not
            installed, 74 output, 77 no permission.
            """
    )

    @Argument(help: ArgumentHelp("One alone, with what befell each machine.", valueName: "incident"))
    package var incident: String?

    @Option(help: ArgumentHelp("Of this site alone.", valueName: "name"))
    package var site: String?

    @Flag(help: "Those alone that last.")
    package var open = false

    @OptionGroup package var options: ServiceOptions

    package init() {}
}

/// `reachability fleet forget`.
package struct FleetForgetArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Have a hub forget a machine, and all that befell it.",
        usage: "reachability fleet forget [<options>] [<device>]",
        discussion: """
            Examples: reachability fleet forget hq/door-7
                      reachability fleet forget --site lab
            Exit status: 0 forgotten, 64 usage or no such machine, 69 no hub, the hub has
            no broker, or not installed, 77 no permission.

            Root, the hub's own user and members of the group reachability may; over HTTP,
            a token of the scope admin. A machine that is heard again is a new one.
            """
    )

    @Argument(help: "SITE/DEVICE; DEVICE alone where one site has it.")
    package var device: String?

    @Option(help: ArgumentHelp("Forget all machines of a site.", valueName: "site"))
    package var site: String?

    @Flag(help: "Forget the machine of this name at every site.")
    package var everywhere = false

    @OptionGroup package var place: ServicePlace

    package init() {}

    package func validate() throws {
        let isPlace = device?.contains("/") ?? false
        guard (device == nil) != (site == nil), !everywhere || device != nil && !isPlace else {
            throw ValidationError("Name a machine, with --everywhere its name alone, or a site with --site.")
        }
    }
}
