package import ArgumentParser

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
