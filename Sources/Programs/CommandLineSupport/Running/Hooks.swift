import Glibc
import LinuxSupport
import Subprocess
import SystemPackage

/// A check that only root and the user who runs a hook can change the hook. Symbolic links are followed.
///
/// C counterpart: `stat(2)`, `access(2)`.
package struct HookCheck {
    /// The user identifier of the user who runs hooks.
    let user: UInt32

    package init(user: UInt32 = geteuid()) {
        self.user = user
    }

    /// Checks a directory of hooks, because any user who can write to it can add a hook.
    package func checkDirectory(_ path: String) throws(HookRefusal) {
        let status = try status(of: path)
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .noDirectory }
        try checkTrust(status)
    }

    /// Checks a hook file.
    package func checkHook(_ path: String) throws(HookRefusal) {
        let status = try status(of: path)
        guard status.st_mode & S_IFMT == S_IFREG else { throw .noRegularFile }
        try checkTrust(status)
        guard unsafe access(path, X_OK) == 0 else { throw .notExecutable }
    }

    private func checkTrust(_ status: stat) throws(HookRefusal) {
        guard [0, user].contains(status.st_uid) else { throw .foreignOwner(status.st_uid) }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw .writableByOthers }
    }

    private func status(of path: String) throws(HookRefusal) -> stat {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .unreadable(Errno(rawValue: errno).description) }
        return status
    }
}

/// The reason why a hook or a directory of hooks is not used.
package enum HookRefusal: Error, Hashable, CustomStringConvertible {
    /// The system's error text.
    case unreadable(String)
    case noDirectory
    case noRegularFile
    case notExecutable
    case foreignOwner(UInt32)
    case writableByOthers

    /// The reason and a hint, to follow a name and a colon.
    package var description: String {
        switch self {
        case .unreadable(let cause): cause
        case .noDirectory: "it is not a directory"
        case .noRegularFile: "it is not a regular file"
        case .notExecutable: "it is not executable; make it executable with `chmod +x`"
        case .foreignOwner(let user):
            "its owner is user \(user); the owner must be root or the user who runs this command"
        case .writableByOthers: "its group or others can write to it; remove this permission with `chmod go-w`"
        }
    }
}

/// The hooks of `run --hooks`: the executable files of a directory in the order of their names. The directory is read at each run.
package actor HookDirectory {
    private let path: String
    private let check = HookCheck()
    /// The reasons of the hooks that were refused and reported, by path.
    private var refused: [String: HookRefusal] = [:]

    /// - Throws: ``ExitMessage`` if the directory is missing or other users can change it.
    package init(_ path: String) throws(ExitMessage) {
        self.path = path
        do {
            try check.checkDirectory(path)
        } catch {
            throw ExitMessage("cannot use the hooks in \(path): \(error)", .noInput)
        }
    }

    /// Returns the hooks that may run now. Each refused hook is reported on standard error once per reason.
    package func hooks() -> [Program] {
        var refused: [String: HookRefusal] = [:]
        var hooks: [Program] = []
        do throws(HookRefusal) {
            try check.checkDirectory(path)
            for name in try names() {
                let file = "\(path)/\(name)"
                do throws(HookRefusal) {
                    try check.checkHook(file)
                    hooks.append(Program(name: file))
                } catch {
                    refused[file] = error
                }
            }
        } catch {
            refused[path] = error
        }
        for (file, refusal) in refused.sorted(by: { $0.key < $1.key }) where self.refused[file] != refusal {
            StandardError.report("\(sentence(file, refusal))")
        }
        self.refused = refused
        return hooks
    }

    private func sentence(_ file: String, _ refusal: HookRefusal) -> String {
        "cannot use \(file == path ? "the hooks in" : "the hook") \(file): \(refusal)"
    }

    /// Returns the names of hooks, sorted by their bytes. C counterpart: `readdir(3)`.
    private func names() throws(HookRefusal) -> [String] {
        guard let directory = unsafe opendir(path) else { throw .unreadable(Errno(rawValue: errno).description) }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if Self.counts(name) { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns whether the name is that of a hook, and not of a backup made by an editor or the package manager.
    private static func counts(_ name: String) -> Bool {
        !name.hasPrefix(".") && !name.hasSuffix("~") && !name.hasSuffix(".bak") && !name.contains(".dpkg-")
    }
}

/// Runs the hooks of `exec` in a notifier with the rules of `run --hooks`: a hook that other users can change is not run, and each program
/// has its own process group, a time limit and the output of the service.
package struct NotifyHooks: Sendable {
    /// The directories by path, kept so that a refusal is reported once.
    private let directories = Locked<[String: HookDirectory]>([:])

    package init() {}

    /// Runs the hooks one after the other.
    ///
    /// - Returns: The error of the first failed hook; nil if all succeeded.
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
        let environment = Environment.inheriting(variables)
        let runner = ProgramRunner(limit: (limit, DurationText.text(limit)))
        var problem: String?
        for program in programs where !Task.isCancelled {
            let end = await runner.run(program, for: notifier, environment)
            if end.cause != .exited(0) { problem = problem ?? "\(end)" }
        }
        return problem
    }

    /// Runs a program with an input. The time limit is 60 s.
    ///
    /// - Returns: The exit status of a shell, and the error message; nil for success.
    @Sendable package static func run(
        _ path: String,
        _ arguments: [String],
        _ input: [UInt8],
        _ notifier: String
    ) async -> (status: Int32, problem: String)? {
        let runner = ProgramRunner(limit: (.seconds(60), "60s"))
        let program = Program(name: path, arguments: arguments, input: input)
        let end = await runner.run(program, for: notifier, .inherit)
        return end.cause == .exited(0) ? nil : (end.cause.status, "\(end)")
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
