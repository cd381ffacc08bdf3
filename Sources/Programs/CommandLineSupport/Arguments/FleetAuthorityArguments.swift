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

/// `reachability fleet ca sign`.
package struct FleetSignArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign a request, and print the certificate.",
        usage: "reachability fleet ca sign [<options>] <directory> <request>",
        discussion: """
            Examples: reachability fleet ca sign ca door-7.csr >door-7.pem
                      reachability fleet ca sign --server broker.example.org ca broker.csr
            Exit status: 0 signed, 64 usage, 65 not to be signed, 66 no file, 69 not
            installed, 73 not written, 75 another process works there, 77 open to others.
            """
    )

    @Argument(help: "Where the authority is.", completion: .directory)
    package var directory: String

    @Argument(help: "What `fleet enroll` has made; - is standard input.", completion: .file())
    package var request: String

    @Option(help: ArgumentHelp("Write it there instead.", valueName: "file"), completion: .file())
    package var out: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("How long it is valid.", valueName: "duration"))
    package var validity = DurationArgument(argument: "90d")

    @Option(
        name: .customLong("server"),
        help: ArgumentHelp("It is the broker's, at this name or address; repeatable.", valueName: "host")
    )
    package var servers: [String] = []

    @Flag(help: "It is the hub's, which hears every machine.")
    package var hub = false

    package init() {}

    package func validate() throws {
        if hub, !servers.isEmpty { throw ValidationError("--hub and --server are for different certificates.") }
    }
}

/// `reachability fleet ca revoke`.
package struct FleetRevokeArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Take back what a lost machine has.",
        usage: "reachability fleet ca revoke <directory> <certificate>",
        discussion: """
            Examples: reachability fleet ca revoke ca door-7
                      reachability fleet ca revoke ca 1f6f8a0c5cf6a2b9e9c1e6f0a1b2c3d4
            Exit status: 0 revoked, 64 usage, 65 nothing issued is meant, 66 no file,
            69 not installed, 73 not written, 75 another process works there, 77 open to
            others.

            The broker heeds DIRECTORY/revoked.pem (`crlfile`) when it starts.
            """
    )

    @Argument(help: "Where the authority is.", completion: .directory)
    package var directory: String

    @Argument(help: "A machine, all it has; a serial number; or a file.", completion: .file())
    package var certificate: String

    package init() {}
}

/// `reachability fleet ca list`.
package struct FleetListArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print what was issued, and what has become of it.",
        usage: "reachability fleet ca list [--json] <directory>",
        discussion: """
            Examples: reachability fleet ca list ca
                      reachability fleet ca list --json ca
            Exit status: 0 printed, 64 usage, 65 a file is broken, 66 no file, 69 not
            installed, 77 open to others.
            """
    )

    @Argument(help: "Where the authority is.", completion: .directory)
    package var directory: String

    @Flag(help: "Print one JSON object per line (schema 1).")
    package var json = false

    package init() {}
}

/// `reachability fleet enroll`.
package struct FleetEnrollArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Ask for this machine's certificate, or renew it.",
        usage: "reachability fleet enroll [<options>] --device <name> --directory <path>",
        discussion: """
            Examples: reachability fleet enroll --device door --directory .
                      reachability fleet enroll --device door --directory . --renew
            Exit status: 0 done, 64 usage, 65 not taken, 66 no file, 69 not installed,
            73 not written, or there already, 77 open to others.

            Its key never leaves the machine.
            """
    )

    @Option(help: ArgumentHelp("What it is called, to the broker.", valueName: "name"))
    package var device: String

    @Option(help: ArgumentHelp("Where its files lie.", valueName: "path"), completion: .directory)
    package var directory: String

    @Flag(help: "Ask anew if two thirds of its life are over.")
    package var renew = false

    @Option(help: ArgumentHelp("Use this certificate from now on.", valueName: "certificate"), completion: .file())
    package var install: String?

    @Option(help: ArgumentHelp("Who must have signed that.", valueName: "file"), completion: .file())
    package var authority: String?

    @Flag(help: "Ask in any case, with another key.")
    package var force = false

    package init() {}

    package func validate() throws {
        if install != nil, renew || force {
            throw ValidationError("--install goes neither with --renew nor with --force.")
        }
        if authority != nil, install == nil { throw ValidationError("--authority goes with --install.") }
    }
}
