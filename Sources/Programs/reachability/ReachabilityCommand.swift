import ArgumentParser
import CommandLineSupport
import LinuxSupport

/// `reachability`: one binary, one subcommand for each question.
@main
struct ReachabilityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        abstract: "Tells whether packets would get through, and when that changes.",
        // A screen has no room for it beside the subcommands; the last line of help says how to go on.
        usage: "",
        discussion: """
            Examples: reachability status; reachability watch example.org
            """,
        subcommands: [
            Watch.self, Status.self, Why.self, CompanionPart<CheckArguments>.self, Wait.self, Run.self, Retry.self,
            List.self, Record.self, Replay.self,
            Serve.self, Outages.self, Availability.self, Report.self, Note.self, Maintenance.self, CheckNow.self,
            CompanionPart<DownloadArguments>.self, Outbox.self, CompanionPart<PinArguments>.self,
            CompanionPart<TrustArguments>.self, Fleet.self,
        ]
    )

    // Hidden, as --help is, for want of a line: a screen has 24.
    @Flag(help: ArgumentHelp("Show the version.", visibility: .hidden))
    var version = false

    func validate() throws {
        if version { throw CleanExit.message(CommandVersion.text) }
    }

    func run() throws {
        throw CleanExit.helpRequest(self)
    }

    static func main() {
        CommandProcess.begin()
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            if let mistake = MistypedWord.help(of: Self.self, words) { throw mistake }
            var command = try parseAsRoot()
            try command.run()
        } catch {
            CommandProcess.end(Self.self, MistypedWord.subcommand(of: Self.self, words) ?? error)
        }
    }
}

/// A subcommand that another program does: parsed here, so that help, completions and refusals are those of every subcommand.
struct CompanionPart<Arguments: CompanionArguments>: ParsableCommand {
    static var configuration: CommandConfiguration { Arguments.configuration }

    @OptionGroup var arguments: Arguments

    func run() throws(ExitMessage) {
        // What was understood here is given on as it was written.
        try Arguments.program.become(Arguments.program.arguments(of: CommandLine.arguments))
    }
}

/// `reachability serve`, done by ``CompanionProgram/tools``.
struct Serve: ParsableCommand {
    static let configuration = ServeArguments.configuration(subcommands: [CompanionPart<TokenArguments>.self])

    @OptionGroup var arguments: ServeArguments

    func run() throws(ExitMessage) {
        try ServeArguments.program.become(ServeArguments.program.arguments(of: CommandLine.arguments))
    }
}

/// `reachability outbox`, done by ``CompanionProgram/tools``.
struct Outbox: ParsableCommand {
    static let configuration = OutboxGroup.configuration(
        subcommands: [
            CompanionPart<OutboxAddArguments>.self, CompanionPart<OutboxListArguments>.self,
            CompanionPart<OutboxFlushArguments>.self, CompanionPart<OutboxRequeueArguments>.self,
            CompanionPart<OutboxDropArguments>.self,
        ]
    )
}

/// `reachability fleet`, done by ``CompanionProgram/fleet``.
struct Fleet: ParsableCommand {
    static let configuration = FleetGroup.configuration(
        name: "fleet",
        subcommands: [
            CompanionPart<FleetAgentArguments>.self, CompanionPart<FleetHubArguments>.self,
            CompanionPart<FleetDevicesArguments>.self, CompanionPart<FleetIncidentsArguments>.self,
            CompanionPart<FleetForgetArguments>.self, CompanionPart<FleetEnrollArguments>.self, FleetAuthority.self,
        ]
    )
}

/// `reachability fleet ca`, done by ``CompanionProgram/fleet``.
struct FleetAuthority: ParsableCommand {
    static let configuration = FleetAuthorityGroup.configuration(
        subcommands: [
            CompanionPart<FleetInitArguments>.self, CompanionPart<FleetSignArguments>.self,
            CompanionPart<FleetRevokeArguments>.self, CompanionPart<FleetListArguments>.self,
        ]
    )
}
