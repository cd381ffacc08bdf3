import Glibc
import LinuxSupport
import Netlink
package import Subprocess
import SystemPackage

/// Runs programs, and reports on standard error how each one ended.
///
/// A program leads its own session and process group. It has no terminal, and shares the output of this process. At the time
/// limit, or if the task is cancelled, the whole group receives ``endSignal``, and SIGKILL after ``grace``.
package struct ProgramRunner: Sendable {
    /// The maximum duration of a program, with its text on the command line; nil for no limit.
    package var limit: (duration: Duration, text: String)?

    /// The time between the end signal and SIGKILL. The default is 5 s.
    package var grace = Duration.seconds(5)

    /// Returns the signal that ends a program. Called when the signal is sent.
    package var endSignal: @Sendable () -> CInt = { SIGTERM }

    package init(
        limit: (duration: Duration, text: String)? = nil,
        grace: Duration = .seconds(5),
        endSignal: @escaping @Sendable () -> CInt = { SIGTERM }
    ) {
        (self.limit, self.grace, self.endSignal) = (limit, grace, endSignal)
    }

    /// Runs a program to its end, reports the end, and returns it.
    ///
    /// - Parameter target: The target in the reported line; nil for the network at large.
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
        StandardError.report("\(end)")
        return end
    }

    /// Returns how the program ended, and whether the time limit ended it.
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
                // The first result cancels the other task, which ends the program.
                group.cancelAll()
                if let ended { return (ended, isLate) }
                isLate = !Task.isCancelled
            }
            return (.exited(0), isLate)
        }
    }

    /// Runs a program to its end. If the task is cancelled, ends the whole process group and waits for it.
    package func cause(of program: Program, _ environment: Environment) async -> ProgramEnd.Cause {
        let (leaders, leader) = AsyncStream.makeStream(of: Int32.self)
        // This task is never cancelled, so swift-subprocess sends no signal.
        let running = Task {
            defer { leader.finish() }
            var options = PlatformOptions()
            options.createSession = true
            return try await Subprocess.run(
                program.executable,
                arguments: Arguments(program.arguments),
                environment: environment,
                platformOptions: options,
                input: .inputWriter,
                output: .currentStandardOutput,
                error: .currentStandardError
            ) { execution in
                leader.yield(execution.processIdentifier.value)
                // A program may exit without reading its input. Its exit status decides.
                if !program.input.isEmpty { _ = try? await execution.standardInputWriter.write(program.input) }
                try? await execution.standardInputWriter.finish()
            }
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

/// A program, its arguments and its input.
package struct Program: Hashable, Sendable {
    /// A path if it contains a slash, otherwise a name to search in PATH.
    package let name: String
    package var arguments: [String] = []
    /// The content of the standard input.
    package var input: [UInt8] = []

    package init(name: String, arguments: [String] = [], input: [UInt8] = []) {
        (self.name, self.arguments, self.input) = (name, arguments, input)
    }

    package var executable: Executable { isPath ? .path(FilePath(name)) : .name(name) }

    private var isPath: Bool { name.contains("/") }

    /// Returns the exit status that a shell reports for a program that cannot be started, and the reason. The status is 127 if the program
    /// is missing, otherwise 126.
    package func failure(_ error: SubprocessError) -> (status: CInt, cause: String) {
        guard error.code == .executableNotFound else {
            return (126, error.underlyingError?.description ?? error.description)
        }
        guard isPath else { return (127, "there is no such command in PATH") }
        var status = stat()
        guard unsafe stat(name, &status) == 0 else { return (127, Errno(rawValue: errno).description) }
        // An executable file that cannot be found is a script whose interpreter is missing.
        let mayRun = unsafe status.st_mode & S_IFMT == S_IFREG && access(name, X_OK) == 0
        return mayRun ? (127, "its interpreter is missing") : (126, Errno.permissionDenied.description)
    }
}

extension Environment {
    /// Returns the environment of this process with additional or replaced variables.
    package static func inheriting(_ variables: [(name: String, value: String)]) -> Environment {
        var updates: [Environment.Key: String?] = [:]
        for (name, value) in variables { updates[Environment.Key(stringLiteral: name)] = value }
        return .inherit.updating(updates)
    }
}

/// The end of a program, described in one line for standard error.
package struct ProgramEnd: Sendable, CustomStringConvertible {
    package enum Cause: Hashable, Sendable {
        case exited(CInt)
        case signalled(CInt)
        /// The program was not started. The values are the exit status of a shell and the reason.
        case notStarted(CInt, String)

        /// The exit status of a shell: 128 plus the number of a signal.
        package var status: CInt {
            switch self {
            case .exited(let status), .notStarted(let status, _): status
            case .signalled(let signal): 128 + signal
            }
        }
    }

    /// The target of the run; nil for the network at large.
    package let target: String?
    package let program: String
    package let cause: Cause
    package let duration: Duration
    /// The text of the time limit, if it ended the program.
    package let exceededLimit: String?

    package init(target: String?, program: String, cause: Cause, duration: Duration, exceededLimit: String?) {
        (self.target, self.program, self.cause) = (target, program, cause)
        (self.duration, self.exceededLimit) = (duration, exceededLimit)
    }

    /// A line such as `network: sync.sh: exit status 0 after 1.204s`.
    package var description: String {
        var text = "\(target ?? "network"): \(program): "
        switch cause {
        case .exited(let status), .notStarted(let status, _): text += "exit status \(status)"
        case .signalled(let signal): text += "ended by signal \(signal)"
        }
        text += " after \(duration.secondsText)"
        if case .notStarted(_, let why) = cause { text += ", not started: \(why)" }
        if let exceededLimit { text += ", stopped at the limit of \(exceededLimit)" }
        return text
    }
}

extension Duration {
    /// The duration in seconds with three decimals, for example `1.204s`.
    package var secondsText: String {
        let milliseconds = String(components.attoseconds / 1_000_000_000_000_000)
        return "\(components.seconds).\(String(repeating: "0", count: 3 - milliseconds.utf8.count))\(milliseconds)s"
    }
}

/// The process group of a program. It may exist longer than its leader.
package struct ProcessGroup: Sendable {
    private let identifier: Int32

    package init(_ identifier: Int32) {
        self.identifier = identifier
    }

    /// Sends a signal to all members and waits for their end. Kills the remaining members after `limit`. The calling task must not be
    /// cancelled, because a cancelled task cannot wait.
    ///
    /// The kernel does not reuse the number while the group has a member.
    package func finish(by signal: CInt, within limit: Duration) async {
        kill(-identifier, signal)
        // A stopped process receives the signal only when it continues.
        kill(-identifier, SIGCONT)
        if await isGone(within: limit) { return }
        kill(-identifier, SIGKILL)
        // A process in uninterruptible sleep ends later.
        _ = await isGone(within: .seconds(1))
    }

    /// Waits until no member can run. `kill(2)` also counts a zombie until its parent waits for it, which the first process of a container
    /// may never do. Returns false at the limit.
    private func isGone(within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        let recognizesZombies = ProcessTable.isOurs
        var member: Int32?
        while kill(-identifier, 0) == 0 {
            if recognizesZombies, !(member.map { ProcessTable.isRunning($0, in: identifier) } ?? false) {
                member = ProcessTable.runningMember(of: identifier)
                if member == nil {
                    // A member may have started another process meanwhile.
                    kill(-identifier, SIGKILL)
                    return true
                }
            }
            if ContinuousClock.now >= deadline { return false }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return true
    }
}

/// The running members of process groups. `/proc` distinguishes them from zombies, `kill(2)` does not.
///
/// Source: `proc(5)`.
package enum ProcessTable {
    /// Whether `/proc` is mounted for the PID namespace of this process.
    package static var isOurs: Bool {
        var buffer = [CChar](repeating: 0, count: 16)
        let count = unsafe readlink("/proc/self", &buffer, buffer.count)
        guard count > 0 else { return false }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) == String(getpid())
    }

    /// Returns a member of the group that has not ended; nil without one.
    package static func runningMember(of group: Int32) -> Int32? {
        guard let directory = unsafe opendir("/proc") else { return nil }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let process = Int32(name), isRunning(process, in: group) { return process }
        }
        return nil
    }

    /// Returns whether the process is in the group and has not ended. An ended process is a zombie (Z) until its parent waits for it.
    package static func isRunning(_ process: Int32, in group: Int32) -> Bool {
        // The program name is in parentheses and may contain any character. State, parent and group follow it.
        guard let text = TextFile.read("/proc/\(process)/stat"), let end = text.unicodeScalars.lastIndex(of: ")") else {
            return false
        }
        let fields = text[text.unicodeScalars.index(after: end)...].split(at: " ", maxSplits: 3)
        return fields.count > 3 && fields[0] != "Z" && fields[0] != "X" && fields[2] == String(group)
    }
}
