import CommandLineSupport
import Glibc
import Subprocess

/// Runs programs, each to its end, and writes to standard error how it ended.
///
/// A program leads a process group of its own and reads nothing; its output is ours. When its time is up, or the task is
/// cancelled, the whole group is told to end with SIGTERM, and killed when it has not after ``grace``.
struct ProgramRunner: Sendable {
    /// How long what was told to end may take to do so.
    static let grace = Duration.seconds(5)

    /// How long a program may run, and how that was written; nil for as long as it takes.
    let limit: (duration: Duration, text: String)?

    /// Runs a program, and returns when it has ended.
    func run(_ program: Program, _ surroundings: RunEnvironment) async {
        let start = ContinuousClock.now
        let (cause, isLate) = await end(of: program, surroundings.environment)
        let end = ProgramEnd(
            target: surroundings.target,
            program: program.name,
            cause: cause,
            duration: start.duration(to: .now),
            exceededLimit: isLate ? limit?.text : nil
        )
        StandardError.write("reachability: \(end)")
    }

    /// How the program ended, and whether it had to because of the limit.
    private func end(of program: Program, _ environment: Environment) async -> (cause: ProgramEnd.Cause, isLate: Bool) {
        await withTaskGroup { group in
            group.addTask { Optional(await spawn(program, environment)) }
            if let limit {
                group.addTask {
                    try? await Task.sleep(for: limit.duration)
                    return nil
                }
            }
            var isLate = false
            while let ended = await group.next() {
                // Whichever comes first, the other is to end: a program that is cancelled is told to.
                group.cancelAll()
                if let ended { return (ended, isLate) }
                isLate = !Task.isCancelled
            }
            return (.exited(0), isLate)
        }
    }

    private func spawn(_ program: Program, _ environment: Environment) async -> ProgramEnd.Cause {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [
            .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: Self.grace)
        ]
        do {
            let result = try await Subprocess.run(
                program.executable,
                arguments: Arguments(program.arguments),
                environment: environment,
                platformOptions: options,
                input: .none,
                output: .currentStandardOutput,
                error: .currentStandardError
            )
            if Task.isCancelled { await ProcessGroup(result.processIdentifier.value).finish(within: Self.grace) }
            return switch result.terminationStatus {
            case .exited(let status): .exited(status)
            case .signaled(let signal): .signalled(signal)
            }
        } catch let error as SubprocessError {
            let (status, why) = program.failure(error)
            return .notStarted(status, why)
        } catch {
            return .notStarted(126, "\(error)")
        }
    }
}
