import Glibc
import LinuxSupport
import Subprocess
import SystemPackage

/// Checks that only root, and the user who runs a hook, can change the hook. Follows symbolic links.
///
/// C counterpart: `stat(2)`, `access(2)`.
package struct HookCheck {
    /// The user who runs hooks.
    let user: UInt32

    package init(user: UInt32 = geteuid()) {
        self.user = user
    }

    /// Checks a directory of hooks, because every user who may write there can add a hook.
    package func checkDirectory(_ path: String) throws(HookRefusal) {
        let status = try status(of: path)
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .noDirectory }
        try checkTrust(status)
    }

    /// Checks a hook.
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

/// Why a hook, or a directory of hooks, is not used.
package enum HookRefusal: Error, Hashable, CustomStringConvertible {
    /// The system's error text.
    case unreadable(String)
    case noDirectory
    case noRegularFile
    case notExecutable
    case foreignOwner(UInt32)
    case writableByOthers

    /// The reason and a hint, as they follow the name and a colon.
    package var description: String {
        switch self {
        case .unreadable(let cause): cause
        case .noDirectory: "it is no directory"
        case .noRegularFile: "it is no regular file"
        case .notExecutable: "it is not executable: `chmod +x` lets it be run"
        case .foreignOwner(let user):
            "it belongs to user \(user): only what belongs to root, or to the user who runs this, is trusted"
        case .writableByOthers: "its group or others may write to it: `chmod go-w` takes that away"
        }
    }
}

/// The hooks of `run --hooks`: the executables of a directory in the order of their names, read at each run.
package actor HookDirectory {
    private let path: String
    private let check = HookCheck()
    /// The hooks that were refused and reported, with the reason.
    private var refused: [String: HookRefusal] = [:]

    /// - Throws: ``ExitMessage`` if the directory is missing or others may change it.
    package init(_ path: String) throws(ExitMessage) {
        self.path = path
        do {
            try check.checkDirectory(path)
        } catch {
            throw ExitMessage("cannot use the hooks in \(path): \(error)", .noInput)
        }
    }

    /// Returns the hooks that may be run now. A refused hook is reported on standard error once for each reason.
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

    /// The names of hooks in the order of their bytes. C counterpart: `readdir(3)`.
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

    /// Whether a file is a hook, and not a backup of an editor or of the package manager.
    private static func counts(_ name: String) -> Bool {
        !name.hasPrefix(".") && !name.hasSuffix("~") && !name.hasSuffix(".bak") && !name.contains(".dpkg-")
    }
}

/// Runs the hooks that `exec` of a notifier names, by the rules of `run --hooks`: a hook that others may change is not run, and each
/// program has a process group, a time limit and the output of the service.
package struct NotifyHooks: Sendable {
    /// By path, so that a refusal is reported once.
    private let directories = Locked<[String: HookDirectory]>([:])

    package init() {}

    /// Runs the hooks one after the other.
    ///
    /// - Returns: The error of the first hook that failed; nil if none failed.
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
