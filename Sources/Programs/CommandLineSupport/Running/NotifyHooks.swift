import LinuxSupport
import Subprocess

/// Runs what `exec` of a notifier names, by the rules of `run --hooks`: what others may have a hand in is not run, each program has a
/// process group and a time, and what they write is ours.
package struct NotifyHooks: Sendable {
    /// By their paths: what was refused is said once.
    private let directories = Locked<[String: HookDirectory]>([:])

    package init() {}

    /// Runs them one after the other.
    ///
    /// - Returns: What went wrong with the first of them that failed; nil where none did.
    @Sendable package func run(
        _ path: String,
        _ limit: Duration,
        _ notifier: String,
        _ variables: [(name: String, value: String)]
    ) async -> String? {
        let programs: [Program]
        switch await self.programs(at: path) {
        case .success(let found): programs = found
        case .failure(let refusal): return "\(path.printable): \(refusal)"
        }
        var updates: [Environment.Key: String?] = [:]
        for (name, value) in variables { updates[Environment.Key(stringLiteral: name)] = value }
        let environment = Environment.inherit.updating(updates)
        let runner = ProgramRunner(limit: (limit, DurationText.text(limit)))
        var problem: String?
        for program in programs where !Task.isCancelled {
            let end = await runner.run(program, for: notifier, environment)
            if end.cause != .exited(0) { problem = problem ?? "\(end)" }
        }
        return problem
    }

    private func programs(at path: String) async -> Result<[Program], HookRefusal> {
        do throws(HookRefusal) {
            try HookCheck().checkDirectory(path)
        } catch .noDirectory {
            do throws(HookRefusal) { try HookCheck().checkHook(path) } catch { return .failure(error) }
            return .success([Program(name: path)])
        } catch {
            return .failure(error)
        }
        let directory = directories.withLock { directories -> HookDirectory? in
            if let known = directories[path] { return known }
            let made = try? HookDirectory(path)
            directories[path] = made
            return made
        }
        return .success(await directory?.hooks() ?? [])
    }
}
