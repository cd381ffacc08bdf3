package import ArgumentParser

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

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("For everything together.", valueName: "duration")
    )
    package var timeLimit = DurationArgument(argument: "10s")

    @Flag(help: "Print one JSON object (schema 1).")
    package var json = false

    package init() {}
}
