package import ArgumentParser

/// `reachability serve`.
package struct ServeArguments: ParsableArguments {
    package static let program = CompanionProgram.tools

    /// - Parameter subcommands: What it also does, without a service.
    package static func configuration(subcommands: [any ParsableCommand.Type]) -> CommandConfiguration {
        CommandConfiguration(
            commandName: "serve",
            abstract: "Account for every second, and tell it over HTTP.",
            usage: "reachability serve [<options>]",
            discussion: """
                Examples: reachability serve
                          reachability serve --config /etc/reachability/serve.toml
                Exit status: 0 ended by a signal, 64 usage, 69 the address or socket is taken,
                no service or not installed, 73 no socket, 74 or 75 no history to mark, 77 no
                permission, 78 something is wrong in the configuration.
                """,
            subcommands: subcommands
        )
    }

    @Option(
        help: ArgumentHelp("What to watch, and how; the network at large else.", valueName: "file"),
        completion: .file()
    )
    package var config: String?

    @Option(
        help: ArgumentHelp("Tell all that is wrong in such a file, and end.", valueName: "file"),
        completion: .file()
    )
    package var check: String?

    @Option(
        help: ArgumentHelp("Its address, or none (default: 127.0.0.1:9672).", valueName: "address")
    )
    package var listen: [String] = []

    @Option(
        help: ArgumentHelp("Its Unix socket, or none; one of the user's own else.", valueName: "path"),
        completion: .file()
    )
    package var socket: String?

    @Option(
        help: ArgumentHelp("Its history, or none; one of the user's own else.", valueName: "path"),
        completion: .file()
    )
    package var history: String?

    @Flag(help: "Let the service read its configuration again.")
    package var reload = false

    @Flag(help: "Write down that a killed service has ended now.")
    package var markStopped = false

    package init() {}
}
