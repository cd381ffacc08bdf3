package import ArgumentParser

/// `reachability fleet ca` itself.
package enum FleetAuthorityGroup {
    /// - Parameters:
    ///   - subcommands: One for each ``CompanionArguments`` of it.
    package static func configuration(subcommands: [any ParsableCommand.Type]) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "ca",
            abstract: "Be the authority that signs a fleet's certificates.",
            usage: "reachability fleet ca <subcommand>",
            discussion: """
                Examples: reachability fleet ca init ca
                          reachability fleet ca sign ca door-7.csr >door-7.pem
                Exit status: 64 usage, 69 not installed; or as each subcommand tells.

                It is a directory of plain files, for its owner alone. Its key signs for
                everybody: keep it away from the broker.
                """,
            subcommands: subcommands
        )
    }
}

/// `reachability fleet ca init`.
package struct FleetInitArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make an authority, and an empty list of revoked ones.",
        usage: "reachability fleet ca init [<options>] <directory>",
        discussion: """
            Examples: reachability fleet ca init ca
                      reachability fleet ca init --name "Doors of Example" ca
            Exit status: 0 made, 64 usage, 69 not installed, 73 not written, or there is
            one already, 75 another process works there, 77 open to others.
            """
    )

    @Argument(help: "Where it is kept; made with mode 0700.", completion: .directory)
    package var directory: String

    @Option(help: ArgumentHelp("What it is called.", valueName: "name"))
    package var name = "Fleet"

    @Option(parsing: .unconditional, help: ArgumentHelp("How long it is valid.", valueName: "duration"))
    package var validity = DurationArgument(argument: "3652d")

    package init() {}
}
