package import ArgumentParser

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

            Root, the hub's own user and members of the group reachability may. A machine
            that is heard again is a new one.
            """
    )

    @Argument(help: "SITE/DEVICE; DEVICE alone where one site has it.")
    package var device: String?

    @Option(help: ArgumentHelp("Forget all machines of a site.", valueName: "site"))
    package var site: String?

    @Flag(help: "Forget the machine of this name at every site.")
    package var everywhere = false

    @Option(
        help: ArgumentHelp("The hub's Unix socket, if not the usual one.", valueName: "path"),
        completion: .file()
    )
    package var socket: String?

    package init() {}

    package func validate() throws {
        let isPlace = device?.contains("/") ?? false
        guard (device == nil) != (site == nil), !everywhere || device != nil && !isPlace else {
            throw ValidationError("Name a machine, with --everywhere its name alone, or a site with --site.")
        }
    }
}
