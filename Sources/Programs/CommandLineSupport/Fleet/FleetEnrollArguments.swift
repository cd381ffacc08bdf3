package import ArgumentParser

/// `reachability fleet enroll`.
package struct FleetEnrollArguments: CompanionArguments {
    package static let program = CompanionProgram.fleet
    package static let configuration = CommandConfiguration(
        commandName: "enroll",
        abstract: "Ask for this machine's certificate, or renew it.",
        usage: "reachability fleet enroll [<options>] --device <name> --directory <path>",
        discussion: """
            Examples: reachability fleet enroll --device door --directory .
                      reachability fleet enroll --device door --directory . --renew
            Exit status: 0 done, 64 usage, 65 not taken, 66 no file, 69 not installed,
            73 not written, or there already, 77 open to others.

            Its key never leaves the machine.
            """
    )

    @Option(help: ArgumentHelp("What it is called, to the broker.", valueName: "name"))
    package var device: String

    @Option(help: ArgumentHelp("Where its files lie.", valueName: "path"), completion: .directory)
    package var directory: String

    @Flag(help: "Ask anew if two thirds of its life are over.")
    package var renew = false

    @Option(help: ArgumentHelp("Use this certificate from now on.", valueName: "certificate"), completion: .file())
    package var install: String?

    @Option(help: ArgumentHelp("Who must have signed that.", valueName: "file"), completion: .file())
    package var authority: String?

    @Flag(help: "Ask in any case, with another key.")
    package var force = false

    package init() {}

    package func validate() throws {
        if install != nil, renew || force {
            throw ValidationError("--install goes neither with --renew nor with --force.")
        }
        if authority != nil, install == nil { throw ValidationError("--authority goes with --install.") }
    }
}
