import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import NetworkReachability

/// `reachability run`: a command at each change.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command at each change, never two at once.",
        usage: "reachability run [<host>] [<options>] -- <command> ...",
        discussion: """
            Examples: reachability run example.org --on reachable -- ./sync.sh
                      reachability run --hooks /etc/reachability/hooks.d
            Exit status: 0 ended, 64 usage, 66 hooks unusable, 77 no permission.
            """
    )

    @Argument(help: "A name or address; none means the network at large.")
    var host: String?

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp("One more; may be repeated.", valueName: "host")
    )
    var hosts: [String] = []

    /// What others call it.
    @Option(name: .customLong("target"), help: .hidden)
    var moreHosts: [String] = []

    @Argument(parsing: .postTerminator, help: "What to run, with its arguments, after --.")
    var command: [String] = []

    @Option(
        name: .customLong("on"),
        help: ArgumentHelp("change (the default), reachable, not-reachable.", valueName: "event"),
        completion: .list(["change", "reachable", "not-reachable"])
    )
    var triggers: [RunTrigger] = []

    @Option(
        help: ArgumentHelp("Run the executables in there, in order.", valueName: "dir"),
        completion: .directory
    )
    var hooks: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only for what has held for so long: 2s.", valueName: "duration")
    )
    var settle: DurationArgument?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("End what runs for longer: 500ms, 2s, 1m.", valueName: "duration")
    )
    var killAfter: DurationArgument?

    @Flag(help: "Also run for the state at the beginning.")
    var initial = false

    @OptionGroup var namespaceOptions: NamespaceOptions

    @Option(help: ArgumentHelp("The firewall mark packets will carry: 51966, 0xcafe.", valueName: "mark"))
    var mark: FirewallMark?

    @Flag(name: .shortAndLong, help: "Log what is heard and decided.")
    var verbose = false

    func validate() throws {
        if command.isEmpty, hooks == nil { throw ValidationError("Give a command after --, or --hooks.") }
        if !command.isEmpty, hooks != nil { throw ValidationError("A command and --hooks exclude each other.") }
    }

    func run() throws {
        let policy: SettlePolicy = try settle.map { .settled(for: try $0.value) } ?? .immediate
        let limit = try killAfter.map { (duration: try $0.value, text: $0.text) }
        if let limit, limit.duration == .zero {
            throw ExitMessage("--kill-after \(limit.text) leaves no time to run", .usage)
        }
        var signals = WatchSignals(reloads: false, runsPrograms: true)
        // What we wait for must not be taken away by an inherited "ignore".
        signal(SIGCHLD, SIG_DFL)
        let options = TargetOptions(
            hosts: ([host].compactMap(\.self) + hosts + moreHosts).unique,
            namespaceOptions: namespaceOptions,
            mark: mark,
            verbose: verbose
        )
        let targets = try options.makeTargets()
        let plan = try makePlan()
        let runners = targets.map { target in
            TargetRunner(
                target: target,
                namespace: namespaceOptions.name,
                policy: policy,
                decision: RunDecision(triggers.isEmpty ? [.change] : Set(triggers), runsInitially: initial),
                plan: plan,
                runner: ProgramRunner(limit: limit),
                logger: options.makeLogger()
            )
        }
        let ended = DispatchSemaphore(value: 0)
        let work = Task {
            await withTaskGroup { group in
                for runner in runners { group.addTask { await runner.run() } }
            }
            ended.signal()
        }
        signals.waitForEnd {
            guard let manager = targets.first?.manager else { return }
            StandardError.write("reachability: \(manager.statistics)")
        }
        work.cancel()
        // What runs is told to end, then killed; nothing should outlast both, and nothing may keep us for ever.
        _ = ended.wait(timeout: .now() + 15)
    }

    private func makePlan() throws(ExitMessage) -> RunPlan {
        guard let hooks else { return .command(Program(name: command[0], arguments: Array(command.dropFirst()))) }
        return .hooks(try HookDirectory(hooks))
    }
}

extension [String] {
    /// Each element once, where it stands first: one target has one run at a time, however often it is named.
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
