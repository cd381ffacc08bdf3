package import ArgumentParser

/// `reachability trust`.
package struct TrustArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Tell whether a TLS server is trusted, and why not.",
        usage: "reachability trust [<options>] <host>",
        discussion: """
            Examples: reachability trust example.org --policy policy.json
                      reachability trust example.org --connect-to 192.0.2.1:8443
            Exit status: 0 trusted, 1 not trusted, 64 usage, 65 wrong file, 66 no file,
            69 no server, no TLS or not installed, 74 output, 75 time is up, 77 denied.
            """
    )

    @Argument(help: ArgumentHelp("HOST, HOST:PORT or [IPV6]:PORT; port 443 otherwise.", valueName: "host"))
    package var server: String

    @Option(
        help: ArgumentHelp("Policies for hosts; only a valid chain otherwise.", valueName: "file"),
        completion: .file()
    )
    package var policy: String?

    @Option(help: ArgumentHelp("Judge for another time: 2027-11-01T12:00:00Z.", valueName: "time"))
    package var at: String?

    @OptionGroup package var options: ServerOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("For everything together.", valueName: "duration")
    )
    package var timeLimit = DurationArgument(argument: "10s")

    @Flag(help: "Print one JSON object (schema 1).")
    package var json = false

    package init() {}
}

/// Whom `reachability pin` and `reachability trust` ask, from where, and by whose anchors.
package struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Trust these certificates in place of the system's.", valueName: "file"),
        completion: .file()
    )
    package var anchors: String?

    @Option(help: ArgumentHelp("Connect there, but judge as if it were the host.", valueName: "host"))
    package var connectTo: String?

    @OptionGroup package var namespaceOptions: NamespaceOptions

    package init() {}
}
