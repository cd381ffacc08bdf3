import ArgumentParser
import CommandLineSupport
import Dispatch
import Glibc
import LinuxSupport
import NetworkReachability
import ReachabilityRetry

/// `reachability retry`: runs a command until it succeeds, and pauses while the network is down.
struct Retry: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Run a command until it succeeds; wait while offline.",
        usage: "reachability retry [<host>] [<options>] -- <command> ...",
        discussion: """
            Examples: reachability retry example.org -- git pull
                      reachability retry --on-exit 6,7,28 -- curl -fO example.org/file
            Exit status: 0 success, 64 usage error, 75 deadline passed offline, 77 no
            permission, 126 not executable, 127 not found, 129, 130, 143 ended by a signal;
            otherwise the status of the command.
            """
    )

    @Argument(help: ArgumentHelp("The host that must be reachable (default: the network).", valueName: "host"))
    var givenHost: String?

    @Argument(parsing: .postTerminator, help: "The command to run, with its arguments, after --.")
    var command: [String] = []

    /// The former options for the host.
    @Option(name: [.customLong("target"), .customLong("host")], help: .hidden)
    var target: String?

    private var host: String? { givenHost ?? target }

    @Option(help: ArgumentHelp("The maximum number of attempts.", valueName: "number"))
    var attempts = 10

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The maximum time of all attempts and waits.", valueName: "duration")
    )
    var deadline = DurationArgument(argument: "5m")

    @Option(help: ArgumentHelp("Retry only these exit statuses: 6,7,28 or 1-9.", valueName: "statuses"))
    var onExit: ExitStatuses?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The time between SIGTERM and SIGKILL.", valueName: "duration")
    )
    var killAfter = DurationArgument(argument: "5s")

    @Flag(name: .shortAndLong, help: "Do not report the attempts.")
    var quiet = false

    @OptionGroup var options: HookOptions

    func validate() throws {
        if attempts > 0 { try check("--attempts", attempts) }
        if command.isEmpty { throw ValidationError("Give a command after --.") }
        if givenHost != nil, target != nil { throw ValidationError("Give one host.") }
    }

    func run() throws {
        let grace = try killAfter.value
        let policy = try makePolicy()
        let statuses = try onExit?.values
        var signals = Signals(reloads: false, runsPrograms: true)
        // A child process with an inherited SIG_IGN would lose its exit status.
        signal(SIGCHLD, SIG_DFL)
        let (manager, atLarge) = try makeManagers()
        let endSignal = Locked(SIGTERM)
        let session = RetrySession(
            host: host,
            namespace: options.namespaceOptions.name,
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
                StandardError.report("\(error.text)")
                Glibc.exit(error.status.rawValue)
            }
            ended.signal()
        }
        let signal = signals.waitForEnd { StandardError.report("\(manager.statistics)") }
        endSignal.withLock { $0 = signal }
        work.cancel()
        // A command that ignores the signal is killed after the grace period. The wait is bounded.
        _ = ended.wait(timeout: .now() + grace.seconds + 10)
        Glibc.exit(128 + signal)
    }

    private func makePolicy() throws -> RetryPolicy {
        guard attempts >= 1 else { throw ExitMessage("--attempts takes at least 1, not \(attempts)", .usage) }
        let limit = try deadline.value
        guard limit > .zero else { throw ExitMessage("--deadline takes more than 0, not \(deadline.text)", .usage) }
        return try RetryPolicy(
            deadline: limit,
            attempts: attempts,
            attemptsAfterSending: attempts,
            attemptsUnresolved: attempts
        )
    }

    /// Creates a manager for the host and one for the network at large. Without a host, both are the same.
    private func makeManagers() throws -> (NetworkReachabilityManager, atLarge: NetworkReachabilityManager) {
        var options = try options.makeOptions()
        // An unresolved name must not delay an attempt.
        options.nameResolutionWait = .zero
        let atLarge = try NetworkReachabilityManager(options: options)
        guard let host else { return (atLarge, atLarge) }
        return (try NetworkReachabilityManager(host: host, options: options), atLarge)
    }
}

extension Duration {
    /// The duration in seconds, for Dispatch.
    fileprivate var seconds: Double { self / .seconds(1) }
}

/// Reports each attempt of `retry` on standard error as soon as the next step is known.
struct RetryReport: Sendable {
    /// Whether only a command that cannot be started is reported, as by a shell.
    let isQuiet: Bool
    /// The maximum number of attempts.
    let attempts: Int
    /// The deadline as given on the command line.
    let deadline: String

    /// Reports a failed attempt that is followed by a wait.
    ///
    /// - Parameter pause: The duration of the wait; nil if it lasts until the target is reachable.
    func wait(after attempt: RetryAttempt, _ failure: CommandFailure, pause: Duration?) {
        let next =
            if let pause {
                attempt.reason == .newPath ? ", next immediately: the path has changed" : ", waits \(pause.secondsText)"
            } else {
                ", waits until reachable" + (attempt.reachability?.reason.map { ": \($0)" } ?? "")
            }
        write(failure.end, attempt.number, next)
    }

    /// Reports a successful attempt.
    func success(_ end: ProgramEnd, _ number: Int) {
        write(end, number, "")
    }

    /// Reports the last attempt, unless it was already reported before a wait.
    func end(_ error: RetryError) {
        guard let attempt = error.attempts.last, attempt.reason == nil,
            let failure = attempt.error as? CommandFailure
        else { return }
        let text =
            switch error.ending {
            case .attemptsExhausted: ", gives up"
            case .deadlineExpired: ", stopped: the deadline of \(deadline) has passed"
            case .cancelled: ", stopped by a signal"
            default: ", not retried"
            }
        write(failure.end, attempt.number, text)
    }

    /// Reports that the deadline passed during a wait while the target was reachable.
    func deadlinePassed() {
        if !isQuiet { StandardError.report("the deadline of \(deadline) passed before the next attempt") }
    }

    private func write(_ end: ProgramEnd, _ number: Int, _ text: String) {
        if isQuiet {
            guard case .notStarted = end.cause else { return }
        }
        StandardError.report("\(end), attempt \(number) of \(attempts)\(text)")
    }
}

/// A run of `retry`: attempts until the command succeeds or no attempt is left.
struct RetrySession: Sendable {
    /// The status of the target and the exit status of the previous attempt.
    private struct Last {
        var status: NetworkReachabilityStatus
        var exitStatus: CInt?
    }

    /// The host on the command line; nil for the network at large.
    let host: String?
    /// The name of the network namespace; nil for the current one.
    let namespace: String?
    let manager: NetworkReachabilityManager
    /// The manager of the network at large. Without a host, the same as `manager`.
    let atLarge: NetworkReachabilityManager
    let program: Program
    let policy: RetryPolicy
    /// The exit statuses to retry; nil for all, see ``CommandFailure``.
    let statuses: Set<CInt>?
    let runner: ProgramRunner
    let report: RetryReport

    /// Runs all attempts. Returns the exit status; nil if the task was cancelled.
    ///
    /// - Throws: ``ExitMessage`` if the deadline passed while the target was not reachable.
    func run() async throws(ExitMessage) -> CInt? {
        let coordinator: RetryCoordinator
        let target: RetryTarget
        do {
            // A single command needs no budget. The number of attempts is limited, so no attempt is used as a probe.
            let limits = try RetryLimits(probeInterval: nil, budget: RetryBudget(retryCost: 0))
            coordinator = RetryCoordinator(
                limits: limits,
                reachability: NetlinkReachabilityProvider { $0 == nil ? atLarge : manager }
            )
            target = try host.map { try RetryTarget(host: $0, isRepeatable: true) } ?? .network(isRepeatable: true)
        } catch {
            throw ExitMessage("\(error)", .usage)
        }
        let last = Locked<Last?>(nil)
        do throws(RetryError) {
            let outcome = try await withRetry(
                policy: policy,
                target: target,
                coordinator: coordinator,
                observer: { event in
                    guard case .waiting(_, let attempt, let pause) = event,
                        let failure = attempt.error as? CommandFailure
                    else { return }
                    report.wait(after: attempt, failure, pause: pause)
                },
                operation: { try await self.attempt($0, last) }
            )
            report.success(outcome.value, outcome.attempts.count)
            return 0
        } catch {
            report.end(error)
            return try status(of: error)
        }
    }

    /// Runs the command once.
    private func attempt(_ number: Int, _ last: Locked<Last?>) async throws(CommandFailure) -> ProgramEnd {
        let path = manager.path
        let previous = last.withLock { $0 }
        var environment = RunEnvironment(
            target: host,
            namespace: namespace,
            change: StateChange(path: path, previous: previous?.status)
        )
        environment.others = [
            ("ATTEMPT", String(number)),
            ("ATTEMPTS", String(report.attempts)),
            ("EXIT_STATUS", previous?.exitStatus.map { String($0) } ?? ""),
        ]
        let start = ContinuousClock.now
        let cause = await runner.cause(of: program, environment.environment)
        let end = ProgramEnd(
            target: host,
            program: program.name,
            cause: cause,
            duration: start.duration(to: .now),
            exceededLimit: nil
        )
        last.withLock { $0 = Last(status: path.status, exitStatus: cause.status) }
        guard cause == .exited(0) else { throw CommandFailure(end: end, statuses: statuses) }
        return end
    }

    private func status(of error: RetryError) throws(ExitMessage) -> CInt? {
        if error.ending == .cancelled { return nil }
        if error.ending == .deadlineExpired {
            let path = manager.path
            if path.status == .notReachable {
                let reason = path.reason.map { ": \($0)" } ?? ""
                throw ExitMessage(
                    "the deadline of \(report.deadline) passed while \(host ?? "the network") was not reachable\(reason)",
                    .temporaryFailure
                )
            }
            if error.attempts.last?.reason != nil { report.deadlinePassed() }
        }
        return (error.lastError as? CommandFailure)?.end.cause.status
    }
}

/// The error for an attempt whose command failed.
struct CommandFailure: RetryableError, CustomStringConvertible {
    let end: ProgramEnd

    /// The exit statuses to retry, with signals as 128 plus their number. If nil, all exit statuses are retried, but not signals, because
    /// a signal is not caused by the network.
    let statuses: Set<CInt>?

    /// The command may have had an effect. A user of `retry` accepts that it is repeated.
    var failureStage: FailureStage? {
        let isRetried =
            switch end.cause {
            case .notStarted: false
            case .exited(let status): statuses?.contains(status) ?? true
            case .signalled: statuses?.contains(end.cause.status) ?? false
            }
        return isRetried ? .mayHaveBeenProcessed : nil
    }

    var description: String { end.description }
}
