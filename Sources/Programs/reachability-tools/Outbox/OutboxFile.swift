import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityOutbox

extension OutboxFileArguments {
    /// Returns the waiting requests and then the dead letters. Changes nothing. A default outbox that does not exist yet is empty.
    func entries(withWaiting: Bool) async throws -> [OutboxEntry] {
        let file: String
        if let named = self.file {
            try Self.mustExist(named)
            file = named
        } else {
            file = try Self.defaultDirectory() + Self.defaultName
            if unsafe access(file, F_OK) != 0, errno == ENOENT { return [] }
        }
        return try await withWaiting ? Outbox.allEntries(inFile: file) : Outbox.deadLetters(inFile: file)
    }

    /// Checks that a named file exists, because its name may be mistyped.
    fileprivate static func mustExist(_ file: String) throws(ExitMessage) {
        guard unsafe access(file, F_OK) != 0 else { return }
        let reason = SystemError.current
        throw ExitMessage("cannot open the outbox \(file): \(reason); `outbox add` creates one", .noInput)
    }

    private static let defaultName = "/outbox.sqlite"

    /// Returns the default file, `outbox.sqlite` in ``StateDirectory/ofUser``, and creates its directory with mode 0700.
    fileprivate static func defaultFile() throws(ExitMessage) -> String {
        let directory = try defaultDirectory()
        do throws(SystemError) { try OwnDirectory.make(directory, mode: 0o700) } catch {
            throw ExitMessage("cannot create the directory \(directory): \(error)", .noInput)
        }
        return directory + defaultName
    }

    private static func defaultDirectory() throws(ExitMessage) -> String {
        guard let directory = StateDirectory.ofUser else {
            throw ExitMessage("cannot open the outbox: there is no home directory; name a file with --outbox", .usage)
        }
        return directory
    }
}

extension OutboxChangeArguments {
    /// Opens or creates the outbox, performs work, and closes the outbox.
    func with<Value>(
        _ options: OutboxOptions = OutboxOptions(),
        work: (Outbox) async throws -> Value
    ) async throws -> Value {
        var options = options
        options.replacesCorruptFile = replaceCorrupt
        let outbox = try await Outbox(file: try outbox.file ?? OutboxFileArguments.defaultFile(), options: options)
        let result: Result<Value, any Error>
        do { result = .success(try await work(outbox)) } catch { result = .failure(error) }
        try await outbox.close()
        return try result.get()
    }

    /// Opens the outbox like ``with(_:work:)``. A named file must exist.
    func withExisting<Value>(
        _ options: OutboxOptions = OutboxOptions(),
        work: (Outbox) async throws -> Value
    ) async throws -> Value {
        if let file = outbox.file { try OutboxFileArguments.mustExist(file) }
        return try await with(options, work: work)
    }
}

extension OutboxError: ExitError {
    var exitMessage: ExitMessage {
        let status: ExitMessage.Status =
            switch self {
            case .invalidRequest: .usage
            case .full, .alreadySending, .busy: .temporaryFailure
            case .corrupt, .foreignFile, .newerFormat: .dataError
            case .cannotOpen: .noInput
            case .diskFull, .failed: .ioError
            }
        return ExitMessage(description, status)
    }
}
