package import ArgumentParser

/// The arguments of `reachability download`.
package struct DownloadArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download a file, and resume it after interruptions.",
        usage: "reachability download <url> [<options>]",
        discussion: """
            Examples: reachability download https://example.org/image.iso
                      reachability download --output /srv/image.iso https://example.org/7
            Exit status: 0 complete, 64 usage error, 65 digest differs, 69 not available,
            given up or not installed, 73 file exists or cannot be created, 74 disk error,
            75 deadline passed or already running, 130 or 143 ended by a signal.

            While there is no network, the command waits without a limit. The part that has
            arrived is kept in NAME.part. The next run continues it.
            """
    )

    @Argument(help: ArgumentHelp("The URL of the file, http or https.", valueName: "url"))
    package var url: String

    @Option(
        help: ArgumentHelp("The file to write (default: the last part of the URL).", valueName: "path"),
        completion: .file()
    )
    package var output: String?

    @Option(help: ArgumentHelp("The expected SHA-256; a different file is deleted.", valueName: "hex"))
    package var sha256: String?

    @Option(duration: "The maximum time for the download (default: none).")
    package var deadline: DurationArgument?

    @Flag(help: "Replace an existing file.")
    package var force = false

    package init() {}
}

/// The arguments of `reachability pin`.
package struct PinArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Print the public key pins of a TLS server.",
        usage: "reachability pin [<options>] <host>",
        discussion: """
            Examples: reachability pin example.org
                      reachability pin --json '[2001:db8::1]:8443' | jq -r .backup
            Exit status: 0 printed, 64 usage error, 65 file without a certificate, 66
            cannot read file, 69 no server, no TLS or not installed, 74 output error, 75
            timeout, 77 no permission.

            The pins are printed whether the server is trusted or not. The output contains
            the result of the check.
            """
    )

    @Argument(help: ArgumentHelp("HOST, HOST:PORT or [IPV6]:PORT (default port: 443).", valueName: "host"))
    package var server: String

    @OptionGroup package var options: ServerOptions

    package init() {}
}

/// The arguments of `reachability trust`.
package struct TrustArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Check whether a TLS server is trusted, and why not.",
        usage: "reachability trust [<options>] <host>",
        discussion: """
            Examples: reachability trust example.org --policy policy.json
                      reachability trust example.org --connect-to 192.0.2.1:8443
            Exit status: 0 trusted, 1 not trusted, 64 usage error, 65 invalid file, 66
            cannot read file, 69 no server, no TLS or not installed, 74 output error, 75
            timeout, 77 no permission.
            """
    )

    @Argument(help: ArgumentHelp("HOST, HOST:PORT or [IPV6]:PORT (default port: 443).", valueName: "host"))
    package var server: String

    @Option(file: "The policy file (default: check chain and name).")
    package var policy: String?

    @Option(help: ArgumentHelp("Check for this time, as 2027-11-01T12:00:00Z.", valueName: "time"))
    package var at: String?

    @OptionGroup package var options: ServerOptions

    package init() {}
}

/// The options of `reachability pin` and `reachability trust`.
package struct ServerOptions: ParsableArguments {
    @Option(file: "Trust these certificates instead of the system's.")
    package var anchors: String?

    @Option(help: ArgumentHelp("Connect here, but check the certificate for <host>.", valueName: "host"))
    package var connectTo: String?

    @OptionGroup package var namespaceOptions: NamespaceOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The maximum time of all steps together.", valueName: "duration")
    )
    package var timeLimit = DurationArgument(argument: "10s")

    @Flag(help: "Print one JSON object (schema 1).")
    package var json = false

    package init() {}
}
