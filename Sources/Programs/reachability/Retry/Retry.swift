import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxSupport
import NetworkReachability
import ReachabilityRetry

/// `reachability retry`: a command, until it succeeds, never while the network is away.
struct Retry: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Run a command until it succeeds, but not offline.",
        usage: "reachability retry [<host>] [<options>] -- <command> ...",
        discussion: """
            Examples: reachability retry example.org -- git pull
                      reachability retry --on-exit 6,7,28 -- curl -fO example.org/file
            Exit status: 0 done, 64 usage, 75 deadline passed offline, 77 no permission,
            126 not executable, 127 not found, 129, 130, 143 signal; else the command's.
            """
    )

    @Argument(help: ArgumentHelp("What has to be reachable, else the network.", valueName: "host"))
    var givenHost: String?

    @Argument(parsing: .postTerminator, help: "What to run, with its arguments, after --.")
    var command: [String] = []

    /// What the host was given by before it was an argument.
    @Option(name: [.customLong("target"), .customLong("host")], help: .hidden)
    var target: String?

    private var host: String? { givenHost ?? target }

    @Option(help: ArgumentHelp("Attempts in all.", valueName: "number"))
    var attempts = 10

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("For all attempts and waits: 500ms, 5m.", valueName: "duration")
    )
    var deadline = DurationArgument(argument: "5m")

    @Option(help: ArgumentHelp("Retry only these: 6,7,28 or 1-9.", valueName: "statuses"))
    var onExit: ExitStatuses?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("From SIGTERM to SIGKILL.", valueName: "duration")
    )
    var killAfter = DurationArgument(argument: "5s")

    @Flag(name: .shortAndLong, help: "Say nothing of the attempts.")
    var quiet = false

    @OptionGroup var namespaceOptions: NamespaceOptions

    @Option(help: ArgumentHelp("The firewall mark packets will carry: 51966, 0xcafe.", valueName: "mark"))
    var mark: FirewallMark?

    @Flag(name: .shortAndLong, help: "Log what is heard and decided.")
    var verbose = false

    func validate() throws {
        if attempts > 0 { try check("--attempts", attempts) }
        if command.isEmpty { throw ValidationError("Give a command after --.") }
        if givenHost != nil, target != nil { throw ValidationError("Give one host.") }
    }

    func run() throws {
        let grace = try killAfter.value
        let policy = try makePolicy()
        let statuses = try onExit?.values
        var signals = WatchSignals(reloads: false, runsPrograms: true)
        // What we wait for must not be taken away by an inherited "ignore".
        signal(SIGCHLD, SIG_DFL)
        let (manager, atLarge) = try makeManagers()
        let endSignal = Locked(SIGTERM)
        let session = RetrySession(
            host: host,
            namespace: namespaceOptions.name,
            manager: manager,
            atLarge: atLarge,
            program: Program(name: command[0], arguments: Array(command.dropFirst())),
            policy: policy,
            statuses: statuses,
            runner: ProgramRunner(grace: grace, endSignal: { endSignal.withLock { $0 } }),
            report: RetryReport(isQuiet: quiet, attempts: attempts, deadline: deadline.text)
        )
        let ended = DispatchSemaphore(value: 0)
        let work = Task {
            do throws(ExitMessage) {
                if let status = try await session.run() { Glibc.exit(status) }
            } catch {
                StandardError.write("reachability: \(error.text)")
                Glibc.exit(error.status.rawValue)
            }
            ended.signal()
        }
        let signal = signals.waitForEnd { StandardError.write("reachability: \(manager.statistics)") }
        endSignal.withLock { $0 = signal }
        work.cancel()
        // Whoever does not obey is killed; nothing may keep us for ever.
        _ = ended.wait(timeout: .now() + grace.seconds + 10)
        Glibc.exit(128 + signal)
    }

    private func makePolicy() throws -> RetryPolicy {
        guard attempts >= 1 else { throw ExitMessage("--attempts \(attempts) leaves nothing to try", .usage) }
        let limit = try deadline.value
        guard limit > .zero else { throw ExitMessage("--deadline \(deadline.text) leaves no time to try", .usage) }
        return try RetryPolicy(
            deadline: limit,
            attempts: attempts,
            attemptsAfterSending: attempts,
            attemptsUnresolved: attempts
        )
    }

    /// A manager of the target, and one of the network at large, which may be the same.
    private func makeManagers() throws -> (NetworkReachabilityManager, atLarge: NetworkReachabilityManager) {
        let target = TargetOptions(
            hosts: [],
            namespaceOptions: namespaceOptions,
            mark: mark,
            verbose: verbose
        )
        var options = try target.makeOptions()
        // What is not resolved yet is no reason not to try.
        options.nameResolutionWait = .zero
        do throws(NetworkReachabilityError) {
            let atLarge = try NetworkReachabilityManager(options: options)
            guard let host else { return (atLarge, atLarge) }
            return (try NetworkReachabilityManager(host: host, options: options), atLarge)
        } catch {
            throw ExitMessage(error)
        }
    }
}

extension Duration {
    /// As Dispatch has it.
    fileprivate var seconds: Double { self / .seconds(1) }
}
