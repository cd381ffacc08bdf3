package import ArgumentParser

/// `reachability download`.
package struct DownloadArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Fetch a file, and go on where it was cut.",
        usage: "reachability download <url> [<options>]",
        discussion: """
            Examples: reachability download https://example.org/image.iso
                      reachability download --output /srv/image.iso https://example.org/7
            Exit status: 0 the file is there, 64 usage, 65 another digest, 69 no such file,
            given up or not installed, 73 there is one already, or none can be made, 74 the
            disk is full, 75 time is up or another download is under way, 130 or 143 ended.

            It waits for the network as long as that takes. What is here by then, in
            NAME.part, is gone on with: after a cut, a signal or a restart.
            """
    )

    @Argument(help: ArgumentHelp("What to fetch, over http or https.", valueName: "url"))
    package var url: String

    @Option(
        help: ArgumentHelp("Its file; the last part of the URL otherwise.", valueName: "path"),
        completion: .file()
    )
    package var output: String?

    @Option(help: ArgumentHelp("What its SHA-256 must be, else it is deleted.", valueName: "hex"))
    package var sha256: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("When to give up; never otherwise.", valueName: "duration"))
    package var deadline: DurationArgument?

    @Flag(help: "Replace a file that is there.")
    package var force = false

    package init() {}
}

/// `reachability pin`.
package struct PinArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Print the pins of a TLS server's certificates.",
        usage: "reachability pin [<options>] <host>",
        discussion: """
            Examples: reachability pin example.org
                      reachability pin --json '[2001:db8::1]:8443' | jq -r .backup
            Exit status: 0 printed, 64 usage, 65 no certificate in the file, 66 no file,
            69 no server, no TLS or not installed, 74 output, 75 time is up, 77 denied.

            Nobody is refused here: what is printed says whether the system trusts it.
            """
    )

    @Argument(help: ArgumentHelp("HOST, HOST:PORT or [IPV6]:PORT; port 443 otherwise.", valueName: "host"))
    package var server: String

    @OptionGroup package var options: ServerOptions

    package init() {}
}

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

    package init() {}
}

/// The options of `reachability pin` and `reachability trust`.
package struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Trust these certificates in place of the system's.", valueName: "file"),
        completion: .file()
    )
    package var anchors: String?

    @Option(help: ArgumentHelp("Connect there, but judge as if it were the host.", valueName: "host"))
    package var connectTo: String?

    @OptionGroup package var namespaceOptions: NamespaceOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("For everything together.", valueName: "duration")
    )
    package var timeLimit = DurationArgument(argument: "10s")

    @Flag(help: "Print one JSON object (schema 1).")
    package var json = false

    package init() {}
}
