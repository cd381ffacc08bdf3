package import ArgumentParser

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
