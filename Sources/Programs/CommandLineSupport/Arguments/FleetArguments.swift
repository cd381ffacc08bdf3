package import ArgumentParser

/// The configuration of `reachability fleet`.
package enum FleetGroup {
    /// Returns the configuration of the command.
    ///
    /// - Parameters:
    ///   - name: The name of the command.
    ///   - subcommands: One command for each ``CompanionArguments``.
    package static func configuration(
        name: String,
        subcommands: [any ParsableCommand.Type]
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name,
            abstract: "Monitor many machines, and explain their outages.",
            usage: "reachability fleet <subcommand>",
            discussion: """
                Examples: reachability fleet agent --broker mqtts://hub --site hq --device door
                          reachability fleet hub --broker mqtts://broker
                Exit status: 64 usage error, 69 not installed; others: see each subcommand.
                """,
            subcommands: subcommands
        )
    }
}

/// The arguments of `reachability fleet agent`.
package struct FleetAgentArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Publish this machine's state to a broker.",
        usage: "reachability fleet agent --broker <address> --site <name> --device <name>\n"
            + "reachability fleet agent --config <file>",
        discussion: """
            Examples: reachability fleet agent --broker mqtts://hub --site hq --device door
                      reachability fleet agent --config /etc/reachability/serve.toml
            Exit status: 0 ended by a signal, 64 usage error, 69 not installed, 73 cannot
            write state, 75 another agent uses the state, 78 invalid configuration.
            """
    )

    @Option(file: "The service's configuration file with [fleet].")
    package var config: String?

    @Option(help: ArgumentHelp("mqtts://HOST[:PORT], or mqtt:// without TLS.", valueName: "address"))
    package var broker: String?

    @Option(help: ArgumentHelp("The name of the machine's site.", valueName: "name"))
    package var site: String?

    @Option(help: ArgumentHelp("The name of the machine, also its MQTT client name.", valueName: "name"))
    package var device: String?

    @Option(file: "The CA certificates to verify the broker with.")
    package var authority: String?

    @Option(file: "The machine's certificate (PEM).")
    package var certificate: String?

    @Option(file: "The key (PEM), if not in the file of the certificate.")
    package var key: String?

    @Option(help: ArgumentHelp("The user name at the broker.", valueName: "name"))
    package var user: String?

    @Option(file: "The file with the password of --user.")
    package var passwordFile: String?

    @Option(
        help: ArgumentHelp("The path of the service's Unix socket.", valueName: "path"),
        completion: .file()
    )
    package var socket: String?

    @Option(
        help: ArgumentHelp(
            "The file of the position up to which events are sent, or none (default: one per user).",
            valueName: "path"
        ),
        completion: .file()
    )
    package var state: String?

    @Option(duration: "The maximum reconnection delay (default: 5s).")
    package var jitter: DurationArgument?

    @Option(
        parsing: .unconditional,
        help: .rare("The interval of state messages.", "duration")
    )
    package var refresh: DurationArgument?

    @Option(
        parsing: .unconditional,
        help: .rare("The time after which the broker reports a lost machine.", "duration")
    )
    package var willDelay: DurationArgument?

    @Option(help: ArgumentHelp("Allow this remote command: check or report; repeatable.", valueName: "command"))
    package var allow: [String] = []

    @Flag(inversion: .prefixedNo, help: "Add this machine to Home Assistant, or remove it.")
    package var homeAssistant: Bool?

    @Option(help: .rare("The discovery prefix of Home Assistant.", "topic"))
    package var homeAssistantPrefix: String?

    package init() {}
}

/// The arguments of `reachability fleet hub`.
package struct FleetHubArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "Collect machines' states, and explain outages.",
        usage: "reachability fleet hub --broker <address> [<options>]",
        discussion: """
            Examples: reachability fleet hub --broker mqtt://127.0.0.1
                      reachability fleet hub --broker mqtts://broker --config hub.toml
            Exit status: 0 ended by a signal, 64 usage error, 69 address or socket in use,
            no hub or not installed, 73 cannot create socket, 74 history error, 75 another
            hub uses the history, 77 no permission, 78 invalid configuration.
            """
    )

    @Option(help: ArgumentHelp("mqtts://HOST[:PORT], or mqtt:// without TLS.", valueName: "address"))
    package var broker: String?

    @Option(help: ArgumentHelp("The hub's MQTT client name.", valueName: "name"))
    package var name = "hub"

    @Option(file: "The CA certificates to verify the broker with.")
    package var authority: String?

    @Option(file: "The hub's certificate (PEM).")
    package var certificate: String?

    @Option(file: "The hub's key (PEM).")
    package var key: String?

    @Option(file: "The configuration: access and notifications, as of serve.")
    package var config: String?

    @Option(file: "Print all errors of a configuration, and exit.")
    package var check: String?

    @Option(help: ArgumentHelp("HTTP address, or none (default: 127.0.0.1:9673).", valueName: "address"))
    package var listen: [String] = []

    @OptionGroup package var places: PlaceOptions

    @Flag(help: "Make the running hub read its configuration again.")
    package var reload = false

    package init() {}

    package func validate() throws { try places.check(isReload: reload) }
}

/// The arguments of `reachability fleet devices`.
package struct FleetDevicesArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Print the machines of a hub, and their state.",
        usage: "reachability fleet devices [<options>]",
        discussion: """
            Examples: reachability fleet devices --unexplained
                      reachability fleet devices --site hq --json
            Exit status: 0 printed, 64 usage error or unknown site, 69 no hub or not
            installed, 74 output error, 77 no permission.

            The command queries `reachability fleet hub` over its Unix socket or --url.
            """
    )

    @Option(help: ArgumentHelp("Print only the machines of this site.", valueName: "name"))
    package var site: String?

    @Flag(help: "Print only silent machines whose outage has no explanation.")
    package var unexplained = false

    @OptionGroup package var options: ServiceOptions

    package init() {}
}

/// The arguments of `reachability fleet incidents`.
package struct FleetIncidentsArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "incidents",
        abstract: "Print the incidents of a hub, latest first.",
        usage: "reachability fleet incidents [<options>] [<incident>]",
        discussion: """
            Examples: reachability fleet incidents --open
                      reachability fleet incidents --json hq-mifd7k3a-door-7
            Exit status: 0 printed, 64 usage error or unknown incident, 69 no hub or not
            installed, 74 output error, 77 no permission.
            """
    )

    @Argument(help: ArgumentHelp("Print one incident, with the events of each machine.", valueName: "incident"))
    package var incident: String?

    @Option(help: ArgumentHelp("Print only the incidents of this site.", valueName: "name"))
    package var site: String?

    @Flag(help: "Print only incidents that have not ended.")
    package var open = false

    @OptionGroup package var options: ServiceOptions

    package init() {}
}

/// The arguments of `reachability fleet forget`.
package struct FleetForgetArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Delete a machine and its history from a hub.",
        usage: "reachability fleet forget [<options>] [<device>]",
        discussion: """
            Examples: reachability fleet forget hq/door-7
                      reachability fleet forget --site lab
            Exit status: 0 deleted, 64 usage error or unknown machine, 69 no hub, hub
            without a broker, or not installed, 77 no permission.

            Only root, the hub's user and members of the group reachability may delete a
            machine. Over HTTP, a token with the scope admin is required. If the machine
            sends again, it is a new one.
            """
    )

    @Argument(help: "SITE/DEVICE, or DEVICE if only one site has it.")
    package var device: String?

    @Option(help: ArgumentHelp("Delete all machines of a site.", valueName: "site"))
    package var site: String?

    @Flag(help: "Delete the machine with this name at every site.")
    package var everywhere = false

    @OptionGroup package var place: ServicePlace

    package init() {}

    package func validate() throws {
        let isPlace = device?.contains("/") ?? false
        guard (device == nil) != (site == nil), !everywhere || device != nil && !isPlace else {
            throw ValidationError("Give SITE/DEVICE, DEVICE (also with --everywhere), or --site.")
        }
    }
}
