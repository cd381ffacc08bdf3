import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import Logging
import NetworkReachability
import Subprocess

/// `reachability run`: runs a command at each change of a target.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command at each change. Commands never overlap.",
        usage: "reachability run [<host>] [<options>] -- <command> ...",
        discussion: """
            Examples: reachability run example.org --on reachable -- ./sync.sh
                      reachability run --hooks /etc/reachability/hooks.d
            Exit status: 0 ended, 64 usage error, 66 invalid hooks, 77 no permission.
            """
    )

    @Argument(help: "A name or an address (default: the network at large).")
    var host: String?

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp("Another host; repeatable.", valueName: "host")
    )
    var hosts: [String] = []

    /// The name of the option in other subcommands.
    @Option(name: .customLong("target"), help: .hidden)
    var moreHosts: [String] = []

    @Argument(parsing: .postTerminator, help: "The command to run, with its arguments, after --.")
    var command: [String] = []

    @Option(
        name: .customLong("on"),
        help: ArgumentHelp("Run on change (default), reachable or not-reachable.", valueName: "event"),
        completion: .list(["change", "reachable", "not-reachable"])
    )
    var triggers: [RunTrigger] = []

    @Option(
        help: ArgumentHelp("Run the executables of a directory, sorted by name.", valueName: "dir"),
        completion: .directory
    )
    var hooks: String?

    @Option(duration: "Run only for states that last this long, such as 2s.")
    var settle: DurationArgument?

    @Option(duration: "Stop a command that runs longer: 500ms, 2s, 1m.")
    var killAfter: DurationArgument?

    @Flag(help: "Also run for the first state.")
    var initial = false

    @OptionGroup var options: HookOptions

    func validate() throws {
        if command.isEmpty, hooks == nil { throw ValidationError("Give a command after --, or --hooks.") }
        if !command.isEmpty, hooks != nil { throw ValidationError("A command and --hooks exclude each other.") }
    }

    func run() throws {
        let policy: SettlePolicy = try settle.map { .settled(for: try $0.value) } ?? .immediate
        let limit = try killAfter.map { (duration: try $0.value, text: $0.text) }
        if let limit, limit.duration == .zero {
            throw ExitMessage("--kill-after takes more than 0, not \(limit.text)", .usage)
        }
        var signals = Signals(reloads: false, runsPrograms: true)
        // A child process with an inherited SIG_IGN would lose its exit status.
        signal(SIGCHLD, SIG_DFL)
        let settings = try options.makeOptions()
        let targets = try settings.makeTargets(([host].compactMap(\.self) + hosts + moreHosts).unique)
        let plan = try makePlan()
        let runners = targets.map { target in
            TargetRunner(
                target: target,
                namespace: options.namespaceOptions.name,
                policy: policy,
                decision: RunDecision(triggers.isEmpty ? [.change] : Set(triggers), runsInitially: initial),
                plan: plan,
                runner: ProgramRunner(limit: limit),
                logger: settings.logger
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
            StandardError.report("\(manager.statistics)")
        }
        work.cancel()
        // Running programs receive SIGTERM and then SIGKILL. The wait is bounded.
        _ = ended.wait(timeout: .now() + 15)
    }

    private func makePlan() throws(ExitMessage) -> RunPlan {
        guard let hooks else { return .command(Program(name: command[0], arguments: Array(command.dropFirst()))) }
        return .hooks(try HookDirectory(hooks))
    }
}

extension [String] {
    /// The elements without duplicates, in the order of their first occurrence. Each target has at most one run at a time.
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

/// Decides for which states of a target a command runs. Has no side effects.
///
/// The caller passes the newest state whenever no command runs. A state that begins and ends during a run is therefore skipped, and the
/// previous state of the next run is that of the last decision.
struct RunDecision: Sendable {
    private let triggers: Set<RunTrigger>
    private let runsInitially: Bool
    /// The status of the last decision; nil until a status is known.
    private var last: NetworkReachabilityStatus?

    /// - Parameters:
    ///   - triggers: The changes that start a run.
    ///   - runsInitially: True if the first known status starts a run.
    init(_ triggers: Set<RunTrigger>, runsInitially: Bool) {
        self.triggers = triggers
        self.runsInitially = runsInitially
    }

    /// Evaluates the newest state. Returns the change to run a command for, or nil.
    mutating func take(_ path: NetworkPath) -> StateChange? {
        let previous = last
        // An unresolved name has no state yet.
        if previous == nil, path.status == .unknown { return nil }
        last = path.status
        guard previous != nil || runsInitially,
            triggers.contains(where: { $0.includes(path.status, after: previous) })
        else { return nil }
        return StateChange(path: path, previous: previous)
    }
}

/// A kind of change that starts a run.
enum RunTrigger: String, ExpressibleByArgument, Sendable {
    /// Every change of the status, also from one connection type to another.
    case change
    /// Becoming reachable.
    case reachable
    /// Becoming not reachable.
    case notReachable = "not-reachable"

    /// Returns whether a change to `status` is of this kind.
    ///
    /// - Parameter previous: The previous status; nil for the first known status.
    func includes(_ status: NetworkReachabilityStatus, after previous: NetworkReachabilityStatus?) -> Bool {
        switch self {
        case .change: status != previous
        case .reachable: status.isReachable && previous?.isReachable != true
        case .notReachable: status == .notReachable && previous != .notReachable
        }
    }
}

/// The state for a run, and the previous status.
struct StateChange: Hashable, Sendable {
    let path: NetworkPath
    /// The status of the previous decision; nil for the first one.
    let previous: NetworkReachabilityStatus?
}

/// The environment of a command. Every variable is always set. The value of an unknown variable is empty.
struct RunEnvironment {
    /// The host on the command line; nil for the network at large.
    let target: String?
    /// The name of the network namespace; nil for the current one.
    let namespace: String?
    let change: StateChange
    /// Additional variables.
    var others: [(name: String, value: String)] = []

    /// All variables with their values, in the order of the documentation.
    var variables: [(name: String, value: String)] {
        let path = change.path
        var connectionType = ""
        if case .reachable(let type) = path.status { connectionType = type.rawValue }
        let variables = [
            ("STATUS", path.status.word),
            ("PREVIOUS", change.previous?.word ?? ""),
            ("TARGET", target ?? ""),
            ("REASON", path.reason?.rawValue ?? ""),
            ("CONNECTION_TYPE", connectionType),
            ("INTERFACE", path.interface?.name ?? ""),
            ("INTERFACE_TYPE", path.interface?.type.rawValue ?? ""),
            ("GATEWAY", path.gateway?.description ?? ""),
            ("SOURCE", path.source?.description ?? ""),
            ("DESTINATION", path.destination?.description ?? ""),
            ("FLAGS", path.flags?.names.joined(separator: " ") ?? ""),
            ("GENERATION", String(path.generation)),
            ("NAMESPACE", namespace ?? ""),
        ]
        return (variables + others).map { ("REACHABILITY_" + $0, $1) }
    }

    /// The environment of this process with the variables.
    var environment: Environment { .inheriting(variables) }
}

extension NetworkReachabilityStatus {
    /// The value of `REACHABILITY_STATUS`.
    fileprivate var word: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "not-reachable"
        case .reachable: "reachable"
        }
    }
}

/// Runs programs at the changes of a target, one at a time.
struct TargetRunner: Sendable {
    let target: TargetOptions.Target
    /// The name of the network namespace; nil for the current one.
    let namespace: String?
    let policy: SettlePolicy
    let decision: RunDecision
    let plan: RunPlan
    let runner: ProgramRunner
    let logger: Logger?

    /// Runs programs until the task is cancelled. Then ends a running program and waits for it.
    func run() async {
        // Read only while no program runs, so that only the newest state is buffered.
        let (paths, continuation) = AsyncStream.makeStream(of: NetworkPath.self, bufferingPolicy: .bufferingNewest(1))
        let token = target.manager.addPathListener(for: .status, settle: policy, onQueue: nil) { path in
            continuation.yield(path)
        }
        var decision = decision
        for await path in paths {
            guard let change = decision.take(path) else {
                logger?.debug("nothing to run", metadata: ["target": "\(target.name ?? "network")", "path": "\(path)"])
                continue
            }
            let environment = RunEnvironment(target: target.name, namespace: namespace, change: change)
            for program in await plan.programs where !Task.isCancelled {
                await runner.run(program, for: environment.target, environment.environment)
            }
        }
        token.cancel()
    }
}

/// The programs to run at a change.
enum RunPlan: Sendable {
    case command(Program)
    case hooks(HookDirectory)

    /// The current programs in the order of execution.
    var programs: [Program] {
        get async {
            switch self {
            case .command(let program): [program]
            case .hooks(let directory): await directory.hooks()
            }
        }
    }
}
