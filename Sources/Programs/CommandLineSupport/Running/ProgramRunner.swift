import Glibc
import LinuxSupport
import Netlink
package import Subprocess
import SystemPackage

/// Runs programs, each to its end, and reports on standard error how each ended.
///
/// A program leads a session and process group of its own, has no input and no terminal, and shares the output of this process. When
/// its time is up, or the task is cancelled, the whole group receives ``endSignal``, and SIGKILL after ``grace``.
package struct ProgramRunner: Sendable {
    /// The maximum time of a program, and its text on the command line; nil for no limit.
    package var limit: (duration: Duration, text: String)?

    /// The time between the end signal and SIGKILL.
    package var grace = Duration.seconds(5)

    /// The signal that ends a program. Called when it is needed.
    package var endSignal: @Sendable () -> CInt = { SIGTERM }

    package init(
        limit: (duration: Duration, text: String)? = nil,
        grace: Duration = .seconds(5),
        endSignal: @escaping @Sendable () -> CInt = { SIGTERM }
    ) {
        (self.limit, self.grace, self.endSignal) = (limit, grace, endSignal)
    }

    /// Runs a program to its end, and returns how it ended.
    ///
    /// - Parameter target: The target of the run, for the reported line; nil for the network at large.
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

    /// Returns how the program ended, and whether the limit ended it.
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

    /// Runs a program to its end. If the task is cancelled, ends the whole group and waits for it.
    package func cause(of program: Program, _ environment: Environment) async -> ProgramEnd.Cause {
        let (leaders, leader) = AsyncStream.makeStream(of: Int32.self)
        // A separate task is never cancelled, so swift-subprocess does not send a signal of its own.
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

/// A program and its arguments.
package struct Program: Hashable, Sendable {
    /// A path if it contains a slash; otherwise a name in PATH.
    package let name: String
    package var arguments: [String] = []

    package init(name: String, arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }

    package var executable: Executable { isPath ? .path(FilePath(name)) : .name(name) }

    private var isPath: Bool { name.contains("/") }

    /// The status that a shell reports for a program that cannot be started, 127 if it is missing and 126 otherwise, and the reason.
    package func failure(_ error: SubprocessError) -> (status: CInt, cause: String) {
        guard error.code == .executableNotFound else {
            return (126, error.underlyingError?.description ?? error.description)
        }
        guard isPath else { return (127, "PATH has no such command") }
        var status = stat()
        guard unsafe stat(name, &status) == 0 else { return (127, Errno(rawValue: errno).description) }
        // A file that may be executed lacks the interpreter of its first line.
        let mayRun = unsafe status.st_mode & S_IFMT == S_IFREG && access(name, X_OK) == 0
        return mayRun ? (127, "its interpreter is missing") : (126, Errno.permissionDenied.description)
    }
}

extension Environment {
    /// The environment of this process with other variables in it.
    package static func inheriting(_ variables: [(name: String, value: String)]) -> Environment {
        var updates: [Environment.Key: String?] = [:]
        for (name, value) in variables { updates[Environment.Key(stringLiteral: name)] = value }
        return .inherit.updating(updates)
    }
}

/// The end of a run of a program, as one line for standard error.
package struct ProgramEnd: Sendable, CustomStringConvertible {
    package enum Cause: Hashable, Sendable {
        case exited(CInt)
        case signalled(CInt)
        /// The program was not started: the status of a shell, and the reason.
        case notStarted(CInt, String)

        /// The status of a shell: 128 and the number for a signal.
        package var status: CInt {
            switch self {
            case .exited(let status), .notStarted(let status, _): status
            case .signalled(let signal): 128 + signal
            }
        }
    }

    /// The watched host; nil for the network at large.
    package let target: String?
    package let program: String
    package let cause: Cause
    package let duration: Duration
    /// The text of the limit that ended the program.
    package let exceededLimit: String?

    package init(target: String?, program: String, cause: Cause, duration: Duration, exceededLimit: String?) {
        (self.target, self.program, self.cause) = (target, program, cause)
        (self.duration, self.exceededLimit) = (duration, exceededLimit)
    }

    /// For example `network: sync.sh: exit status 0 after 1.204s`.
    package var description: String {
        var text = "\(target ?? "network"): \(program): "
        switch cause {
        case .exited(let status), .notStarted(let status, _): text += "exit status \(status)"
        case .signalled(let signal): text += "ended by signal \(signal)"
        }
        text += " after \(duration.secondsText)"
        if case .notStarted(_, let why) = cause { text += ", not started: \(why)" }
        if let exceededLimit { text += ", told to end after \(exceededLimit)" }
        return text
    }
}

extension Duration {
    /// Seconds with three decimals, for example `1.204s`.
    package var secondsText: String {
        let milliseconds = String(components.attoseconds / 1_000_000_000_000_000)
        return "\(components.seconds).\(String(repeating: "0", count: 3 - milliseconds.utf8.count))\(milliseconds)s"
    }
}

/// The process group of a program, also after its leader has ended.
package struct ProcessGroup: Sendable {
    private let identifier: Int32

    package init(_ identifier: Int32) {
        self.identifier = identifier
    }

    /// Sends a signal to all members, waits for their end, and kills the rest after `limit`. The calling task must not be cancelled,
    /// because a cancelled task cannot wait.
    ///
    /// The kernel does not reuse the number while the group has a member, and uses all other numbers first.
    package func finish(by signal: CInt, within limit: Duration) async {
        kill(-identifier, signal)
        // A stopped process does not receive the signal.
        kill(-identifier, SIGCONT)
        if await isGone(within: limit) { return }
        kill(-identifier, SIGKILL)
        // A process that waits in the kernel cannot be killed.
        _ = await isGone(within: .seconds(1))
    }

    /// Whether no member is left that can run. `kill(2)` counts a zombie until its parent waits for it, which the first process of a
    /// container may never do.
    private func isGone(within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        let canTellZombies = ProcessTable.isOurs
        var member: Int32?
        while kill(-identifier, 0) == 0 {
            if canTellZombies, !(member.map { ProcessTable.lives($0, in: identifier) } ?? false) {
                member = ProcessTable.livingMember(of: identifier)
                if member == nil {
                    // A member may have been created meanwhile.
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

/// The living members of process groups, which `/proc` reports and `kill(2)` does not.
///
/// Source: `proc(5)`.
package enum ProcessTable {
    /// Whether `/proc` is mounted for the process namespace of this process.
    package static var isOurs: Bool {
        var buffer = [CChar](repeating: 0, count: 16)
        let count = unsafe readlink("/proc/self", &buffer, buffer.count)
        guard count > 0 else { return false }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) == String(getpid())
    }

    /// Returns a member of a group that has not ended; nil if there is none.
    package static func livingMember(of group: Int32) -> Int32? {
        guard let directory = unsafe opendir("/proc") else { return nil }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let process = Int32(name), lives(process, in: group) { return process }
        }
        return nil
    }

    /// Whether a process is in the group and has not ended. A process that has ended is a zombie (Z) until its parent waits for it.
    package static func lives(_ process: Int32, in group: Int32) -> Bool {
        // The name of the program is in parentheses and may contain any character. State, parent and group follow.
        guard let text = TextFile.read("/proc/\(process)/stat"), let end = text.unicodeScalars.lastIndex(of: ")") else {
            return false
        }
        let fields = text[text.unicodeScalars.index(after: end)...].split(at: " ", maxSplits: 3)
        return fields.count > 3 && fields[0] != "Z" && fields[0] != "X" && fields[2] == String(group)
    }
}
