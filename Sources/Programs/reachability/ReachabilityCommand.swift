import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport

/// The command `reachability` with its subcommands.
@main
struct ReachabilityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachability",
        abstract: "Report whether the network is reachable, and every change.",
        usage: "reachability <subcommand> [<arguments>]",
        discussion: """
            Examples: reachability status
                      reachability watch example.org
            """,
        groupedSubcommands: [
            CommandGroup(name: "Watch and query", subcommands: [Watch.self, Status.self, List.self, Wait.self]),
            CommandGroup(
                name: "Find faults",
                subcommands: [Why.self, CompanionPart<CheckArguments>.self, Record.self, Replay.self]
            ),
            CommandGroup(
                name: "Run and retry",
                subcommands: [Run.self, Retry.self, CompanionPart<DownloadArguments>.self, Outbox.self]
            ),
            CommandGroup(
                name: "Service",
                subcommands: [
                    Serve.self, Outages.self, Availability.self, Statement.self, Report.self, Note.self,
                    Maintenance.self, CheckNow.self, Fleet.self,
                ]
            ),
            CommandGroup(
                name: "TLS",
                subcommands: [CompanionPart<PinArguments>.self, CompanionPart<TrustArguments>.self]
            ),
        ]
    )

    @Flag(help: "Show the version.")
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

/// A subcommand that another program performs. It is parsed here too, for help, completions and errors.
struct CompanionPart<Arguments: CompanionArguments>: ParsableCommand {
    static var configuration: CommandConfiguration { Arguments.configuration }

    @OptionGroup var arguments: Arguments

    func run() throws(ExitMessage) {
        // The arguments are passed on unchanged.
        try Arguments.program.become(Arguments.program.arguments(of: CommandLine.arguments))
    }
}

/// `reachability serve`, which ``CompanionProgram/tools`` performs.
struct Serve: ParsableCommand {
    static let configuration = ServeArguments.configuration(subcommands: [CompanionPart<TokenArguments>.self])

    @OptionGroup var arguments: ServeArguments

    func run() throws(ExitMessage) {
        try ServeArguments.program.become(ServeArguments.program.arguments(of: CommandLine.arguments))
    }
}

/// `reachability outbox`, which ``CompanionProgram/tools`` performs.
struct Outbox: ParsableCommand {
    static let configuration = OutboxGroup.configuration(
        subcommands: [
            CompanionPart<OutboxAddArguments>.self, CompanionPart<OutboxListArguments>.self,
            CompanionPart<OutboxFlushArguments>.self, CompanionPart<OutboxRequeueArguments>.self,
            CompanionPart<OutboxDropArguments>.self,
        ]
    )
}

/// `reachability fleet`, which ``CompanionProgram/fleet`` performs.
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

/// `reachability fleet ca`, which ``CompanionProgram/fleet`` performs.
struct FleetAuthority: ParsableCommand {
    static let configuration = FleetAuthorityGroup.configuration(
        subcommands: [
            CompanionPart<FleetInitArguments>.self, CompanionPart<FleetSignArguments>.self,
            CompanionPart<FleetRevokeArguments>.self, CompanionPart<FleetListArguments>.self,
        ]
    )
}

extension CompanionProgram {
    /// Executes the program, which is in the directory of this program or in `../libexec/reachability`. Does not return on success.
    ///
    /// - Throws: ``ExitMessage`` if the program cannot be executed.
    ///
    /// C counterpart: `execv(3)`.
    func become(_ arguments: [String]) throws(ExitMessage) -> Never {
        let directory = Self.directory
        let places = [directory, "\(directory)/../libexec/reachability"].map { "\($0)/\(name)" }
        let path = places.first { access($0, X_OK) == 0 } ?? places[0]
        var pointers = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(path, &pointers)
        let error = SystemError.current
        throw ExitMessage("cannot run \(path): \(error); install it beside reachability", .unavailable)
    }

    /// The directory of this program.
    private static var directory: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.split(at: "/").dropLast().map { "/" + $0 }.joined()
    }
}

/// The command line of `reachability check` for subcommands that continue with a check.
struct CheckLine {
    private let targets: [String]
    private var options: [String] = []

    init(_ targets: [String], _ namespace: NamespaceOptions, json: Bool) {
        self.targets = targets
        add("--netns", namespace.name)
        if json { add("--json") }
    }

    mutating func add(_ option: String) { options.append(option) }

    mutating func add(_ option: String, _ value: String?) {
        if let value { options.append("\(option)=\(value)") }
    }

    /// The options, then the targets after `--`, because a target may begin with a hyphen.
    var words: [String] { targets.isEmpty ? options : options + ["--"] + targets }
}
