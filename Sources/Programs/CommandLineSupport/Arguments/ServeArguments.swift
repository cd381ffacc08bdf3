package import ArgumentParser

/// `reachability serve`.
package struct ServeArguments: ParsableArguments {
    package static let program = CompanionProgram.tools

    /// - Parameter subcommands: The subcommands, which need no service.
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

    @OptionGroup package var places: PlaceOptions

    @Flag(help: "Let the service read its configuration again.")
    package var reload = false

    @Flag(help: "Write down that a killed service has ended now.")
    package var markStopped = false

    package init() {}

    package func validate() throws { try places.check(isReload: reload) }
}

/// The files of a service or a hub, and with `--reload` its URL.
package struct PlaceOptions: ParsableArguments {
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

    @Option(help: ArgumentHelp("With --reload: the URL of the service.", valueName: "url", visibility: .hidden))
    package var url: String?

    @Option(
        help: ArgumentHelp("A file with the token for --url.", valueName: "file", visibility: .hidden),
        completion: .file()
    )
    package var tokenFile: String?

    package init() {}

    /// - Throws: `ValidationError` for options that do not belong together.
    func check(isReload: Bool) throws {
        if url != nil, !isReload { throw ValidationError("--url needs --reload.") }
        try ServicePlace.check(socket: socket, url: url, tokenFile: tokenFile)
    }
}

/// `reachability serve token`.
package struct TokenArguments: CompanionArguments {
    package static let program = CompanionProgram.tools
    package static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token for who asks the service over HTTPS.",
        usage: "reachability serve token [--name <name>] [--scope <scope>]",
        discussion: """
            Examples: reachability serve token --name phone
                      reachability serve token --name ops --scope admin
            Exit status: 0 made, 64 usage, 69 not installed.

            The first line is the token: give it to who asks. The others belong into the
            service's configuration, which never has the token itself.
            """
    )

    @Option(help: ArgumentHelp("What it is called.", valueName: "name"))
    package var name = "token"

    @Option(help: ArgumentHelp("What it lets do: read, or admin for all.", valueName: "scope"))
    package var scope = "read"

    package init() {}
}
