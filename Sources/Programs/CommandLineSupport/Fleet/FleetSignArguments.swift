package import ArgumentParser

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
