package import ArgumentParser

/// The configuration of `reachability fleet ca`.
package enum FleetAuthorityGroup {
    /// Returns the configuration of the command.
    ///
    /// - Parameters:
    ///   - subcommands: One command for each ``CompanionArguments``.
    package static func configuration(subcommands: [any ParsableCommand.Type]) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "ca",
            abstract: "Manage the certificate authority of a fleet.",
            usage: "reachability fleet ca <subcommand>",
            discussion: """
                Examples: reachability fleet ca init ca
                          reachability fleet ca sign ca door-7.csr >door-7.pem
                Exit status: 64 usage error, 69 not installed; others: see each subcommand.

                An authority is a directory of text files that only its owner may read. Its key
                can sign for every machine: keep it away from the broker.
                """,
            subcommands: subcommands
        )
    }
}

/// The arguments of `reachability fleet ca init`.
package struct FleetInitArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create an authority with an empty revocation list.",
        usage: "reachability fleet ca init [<options>] <directory>",
        discussion: """
            Examples: reachability fleet ca init ca
                      reachability fleet ca init --name "Doors of Example" ca
            Exit status: 0 created, 64 usage error, 69 not installed, 73 cannot write or
            exists, 75 in use by another process, 77 accessible to others.
            """
    )

    @Argument(help: "The directory of the authority, created with mode 0700.", completion: .directory)
    package var directory: String

    @Option(help: ArgumentHelp("The name of the authority.", valueName: "name"))
    package var name = "Fleet"

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The validity of the authority's certificate.", valueName: "duration")
    )
    package var validity = DurationArgument(argument: "3652d")

    package init() {}
}

/// The arguments of `reachability fleet ca sign`.
package struct FleetSignArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign a certificate request, and print the certificate.",
        usage: "reachability fleet ca sign [<options>] <directory> <request>",
        discussion: """
            Examples: reachability fleet ca sign ca door-7.csr >door-7.pem
                      reachability fleet ca sign --server broker.example.org ca broker.csr
            Exit status: 0 signed, 64 usage error, 65 request refused, 66 cannot read file,
            69 not installed, 73 cannot write, 75 in use by another process, 77 accessible
            to others.
            """
    )

    @Argument(help: "The directory of the authority.", completion: .directory)
    package var directory: String

    @Argument(help: "The request of `fleet enroll`; - is standard input.", completion: .file())
    package var request: String

    @Option(file: "The file of the certificate (default: print it).")
    package var out: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The validity of the certificate.", valueName: "duration"))
    package var validity = DurationArgument(argument: "90d")

    @Option(
        name: .customLong("server"),
        help: ArgumentHelp("Sign for a broker with this host name; repeatable.", valueName: "host")
    )
    package var servers: [String] = []

    @Flag(help: "Sign for a hub, which may read all topics.")
    package var hub = false

    package init() {}

    package func validate() throws {
        if hub, !servers.isEmpty { throw ValidationError("--hub and --server exclude each other.") }
    }
}

/// The arguments of `reachability fleet ca revoke`.
package struct FleetRevokeArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke the certificates of a machine.",
        usage: "reachability fleet ca revoke <directory> <certificate>",
        discussion: """
            Examples: reachability fleet ca revoke ca door-7
                      reachability fleet ca revoke ca 1f6f8a0c5cf6a2b9e9c1e6f0a1b2c3d4
            Exit status: 0 revoked, 64 usage error, 65 not issued by this authority, 66
            cannot read file, 69 not installed, 73 cannot write, 75 in use by another
            process, 77 accessible to others.

            The broker reads DIRECTORY/revoked.pem (`crlfile`) only when it starts.
            """
    )

    @Argument(help: "The directory of the authority.", completion: .directory)
    package var directory: String

    @Argument(
        help: "The name of a machine (revokes all its certificates), a serial number, or a file.",
        completion: .file()
    )
    package var certificate: String

    package init() {}
}

/// The arguments of `reachability fleet ca list`.
package struct FleetListArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the issued certificates and their state.",
        usage: "reachability fleet ca list [--json] <directory>",
        discussion: """
            Examples: reachability fleet ca list ca
                      reachability fleet ca list --json ca
            Exit status: 0 printed, 64 usage error, 65 damaged file, 66 cannot read file,
            69 not installed, 77 accessible to others.
            """
    )

    @Argument(help: "The directory of the authority.", completion: .directory)
    package var directory: String

    @Flag(help: "Print one JSON object per line (schema 1).")
    package var json = false

    package init() {}
}

/// The arguments of `reachability fleet enroll`.
package struct FleetEnrollArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Request or renew the certificate of this machine.",
        usage: "reachability fleet enroll [<options>] --device <name> --directory <path>",
        discussion: """
            Examples: reachability fleet enroll --device door --directory .
                      reachability fleet enroll --device door --directory . --renew
            Exit status: 0 done, 64 usage error, 65 certificate refused, 66 cannot read
            file, 69 not installed, 73 cannot write or exists, 77 accessible to others.

            The key is created on this machine and never leaves it.
            """
    )

    @Option(help: ArgumentHelp("The name of the machine for the broker.", valueName: "name"))
    package var device: String

    @Option(
        help: ArgumentHelp("The directory of key, request and certificate.", valueName: "path"),
        completion: .directory
    )
    package var directory: String

    @Flag(help: "Create a new request after two thirds of the validity.")
    package var renew = false

    @Option(
        help: ArgumentHelp("Install this signed certificate.", valueName: "certificate"),
        completion: .file()
    )
    package var install: String?

    @Option(file: "The authority that must have signed --install.")
    package var authority: String?

    @Flag(help: "Create a new request with a new key in any case.")
    package var force = false

    package init() {}

    package func validate() throws {
        if install != nil, renew || force {
            throw ValidationError("--install excludes --renew and --force.")
        }
        if authority != nil, install == nil { throw ValidationError("--authority needs --install.") }
    }
}
