import CommandLineSupport
import Glibc
import ReachabilityOutbox

extension OutboxFileArguments {
    /// Opens the outbox that is meant, and makes it where there is none.
    func open(_ options: OutboxOptions = OutboxOptions()) async throws -> Outbox {
        var options = options
        options.replacesCorruptFile = replaceCorrupt
        return try await Outbox(file: try file ?? Self.defaultFile(), options: options)
    }

    /// Opens the outbox that is meant; a file that is named must exist, for its name may be mistyped.
    func openExisting(_ options: OutboxOptions = OutboxOptions()) async throws -> Outbox {
        if let file, unsafe access(file, F_OK) != 0 {
            let reason = unsafe String(cString: strerror(errno))
            throw ExitMessage("cannot open the outbox \(file): \(reason); `outbox add` makes one", .noInput)
        }
        return try await open(options)
    }

    /// `/var/lib/reachability/outbox.sqlite` for root, otherwise a file in `$XDG_STATE_HOME/reachability`, which is in
    /// `~/.local/state` unless the variable says otherwise (XDG Base Directory Specification). Its directory is made, of
    /// mode 0700.
    private static func defaultFile() throws(ExitMessage) -> String {
        let base: String
        if geteuid() == 0 {
            base = "/var/lib"
        } else if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") {
            base = state
        } else if let home = variable("HOME"), home.hasPrefix("/") {
            base = home + "/.local/state"
        } else {
            throw ExitMessage("there is no home directory for the outbox: name it with --file", .usage)
        }
        let directory = base + "/reachability"
        var path = ""
        for part in directory.split(separator: "/") {
            path += "/" + part
            guard unsafe mkdir(path, 0o700) == 0 || [EEXIST, EROFS, EACCES].contains(errno) else {
                throw ExitMessage(
                    "cannot make the directory \(path): \(unsafe String(cString: strerror(errno)))",
                    .noInput
                )
            }
        }
        return directory + "/outbox.sqlite"
    }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
