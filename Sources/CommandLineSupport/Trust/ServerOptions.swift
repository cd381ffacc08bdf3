package import ArgumentParser

/// What every subcommand takes that asks a TLS server.
package struct ServerOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("For everything together.", valueName: "duration")
    )
    package var timeLimit = DurationArgument(argument: "10s")

    @Flag(help: "Print one JSON object (schema 1).")
    package var json = false

    package init() {}
}
