import CommandLineSupport
import LinuxSupport
import NetworkReachability
import ReachabilityRetry

/// One run of `retry`: a command, until it succeeds or is to be tried no more.
struct RetrySession: Sendable {
    /// What the last attempt was told and came to.
    private struct Last {
        var status: NetworkReachabilityStatus
        var exitStatus: CInt?
    }

    /// The host as it was given; nil for the network at large.
    let host: String?
    /// The name of the network namespace that is asked in; nil for the current one.
    let namespace: String?
    let manager: NetworkReachabilityManager
    /// Of the network at large; the same where there is no host.
    let atLarge: NetworkReachabilityManager
    let program: Program
    let policy: RetryPolicy
    /// The statuses that are retried; nil for all, see ``CommandFailure``.
    let statuses: Set<CInt>?
    let runner: ProgramRunner
    let report: RetryReport

    /// Tries until the end. Returns the exit status; nil when the task was cancelled.
    ///
    /// - Throws: ``ExitMessage`` when the deadline passed offline.
    func run() async throws(ExitMessage) -> CInt? {
        let coordinator: RetryCoordinator
        let target: RetryTarget
        do {
            // One command is no burden that would need a budget: its attempts are counted, so none is spent on a probe.
            let limits = try RetryLimits(probeInterval: nil, budget: RetryBudget(retryCost: 0))
            coordinator = RetryCoordinator(
                limits: limits,
                verdicts: MonitoredVerdicts { $0 == nil ? atLarge : manager }
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

/// An attempt whose command did not succeed.
struct CommandFailure: RetryableError, CustomStringConvertible {
    let end: ProgramEnd

    /// The statuses that are retried, those of signals as a shell has them; nil for every status a command exits with, and
    /// no signal: somebody, or a mistake, has ended it, and no network will mend that.
    let statuses: Set<CInt>?

    /// What it did, nobody knows: whoever has it retried says that it may be done twice.
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
