import Glibc
import LinuxSupport
package import Subprocess

/// Runs programs, each to its end, and writes to standard error how it ended.
///
/// A program leads a session and process group of its own and reads nothing, from no terminal either; its output is ours. When
/// its time is up, or the task is cancelled, the whole group is told to end, and killed when it has not after ``grace``.
package struct ProgramRunner: Sendable {
    /// How long a program may run, and how that was written; nil for as long as it takes.
    package var limit: (duration: Duration, text: String)?

    /// How long what was told to end may take to do so.
    package var grace = Duration.seconds(5)

    /// By which signal a program is told to end; asked when it is.
    package var endSignal: @Sendable () -> CInt = { SIGTERM }

    package init(
        limit: (duration: Duration, text: String)? = nil,
        grace: Duration = .seconds(5),
        endSignal: @escaping @Sendable () -> CInt = { SIGTERM }
    ) {
        (self.limit, self.grace, self.endSignal) = (limit, grace, endSignal)
    }

    /// Runs a program, and returns how it ended when it has.
    ///
    /// - Parameter target: What it is run for, for the line that tells of its end; nil for the network at large.
    @discardableResult
    package func run(_ program: Program, for target: String?, _ environment: Environment) async -> ProgramEnd {
        let start = ContinuousClock.now
        let (cause, isLate) = await end(of: program, environment)
        let end = ProgramEnd(
            target: target,
            program: program.name,
            cause: cause,
            duration: start.duration(to: .now),
            exceededLimit: isLate ? limit?.text : nil
        )
        StandardError.write("reachability: \(end)")
        return end
    }

    /// How the program ended, and whether it had to because of the limit.
    private func end(of program: Program, _ environment: Environment) async -> (cause: ProgramEnd.Cause, isLate: Bool) {
        await withTaskGroup { group in
            group.addTask { Optional(await cause(of: program, environment)) }
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

    /// Runs a program to its end. When the task is cancelled the whole group is told to end, and waited for.
    package func cause(of program: Program, _ environment: Environment) async -> ProgramEnd.Cause {
        let (leaders, leader) = AsyncStream.makeStream(of: pid_t.self)
        // A task of its own, which nobody cancels: by which signal the program ends is ours to say.
        let running = Task {
            defer { leader.finish() }
            var options = PlatformOptions()
            options.createSession = true
            return try await Subprocess.run(
                program.executable,
                arguments: Arguments(program.arguments),
                environment: environment,
                platformOptions: options,
                input: .none,
                output: .currentStandardOutput,
                error: .currentStandardError
            ) { leader.yield($0.processIdentifier.value) }
        }
        let ending = Locked<Task<Void, Never>?>(nil)
        let result = await withTaskCancellationHandler {
            await running.result
        } onCancel: {
            let task = Task {
                for await leader in leaders { await ProcessGroup(leader).finish(by: endSignal(), within: grace) }
            }
            ending.withLock { $0 = task }
        }
        await ending.withLock { $0 }?.value
        do {
            return switch try result.get().terminationStatus {
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
