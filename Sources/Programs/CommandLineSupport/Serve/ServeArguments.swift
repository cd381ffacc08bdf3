package import ArgumentParser

/// `reachability serve`.
package struct ServeArguments: CompanionArguments {
    package static let program = CompanionProgram.serve
    package static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Account for every second, and tell it over HTTP.",
        usage: "reachability serve [<options>]",
        discussion: """
            Examples: reachability serve
                      reachability serve --listen '[::1]:8080' --socket none
            Exit status: 0 ended by a signal, 64 usage, 69 the address or socket is taken
            or not installed, 73 no socket, 74 or 75 no history to mark, 77 no permission.

            It watches the network at large, and sends no packet: curl its address.
            """
    )

    @Option(
        help: ArgumentHelp(
            "An address of this machine, or none (default: 127.0.0.1:9672).",
            valueName: "address"
        )
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

    @Flag(help: "Write down that a killed service has ended now.")
    package var markStopped = false

    package init() {}
}
