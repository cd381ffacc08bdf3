import Glibc
import SystemPackage

/// What `run --hooks` runs: the executables of a directory, in the order of their names, as they are when they are asked for.
package actor HookDirectory {
    private let path: String
    private let check = HookCheck()
    /// What has been refused and said so, and why.
    private var refused: [String: HookRefusal] = [:]

    /// - Throws: ``ExitMessage`` when the directory is not there or not to be trusted.
    package init(_ path: String) throws(ExitMessage) {
        self.path = path
        do {
            try check.checkDirectory(path)
        } catch {
            throw ExitMessage("cannot use the hooks in \(path): \(error)", .noInput)
        }
    }

    /// The hooks that may be run now. One that may not is named on standard error, once for each reason.
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
            StandardError.write("reachability: \(sentence(file, refusal))")
        }
        self.refused = refused
        return hooks
    }

    private func sentence(_ file: String, _ refusal: HookRefusal) -> String {
        "cannot use \(file == path ? "the hooks in" : "the hook") \(file): \(refusal)"
    }

    /// The names that count, in the order of their bytes. C counterpart: `readdir(3)`.
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

    /// Whether it is more than what an editor or the package manager leaves behind.
    private static func counts(_ name: String) -> Bool {
        !name.hasPrefix(".") && !name.hasSuffix("~") && !name.hasSuffix(".bak") && !name.contains(".dpkg-")
    }
}
