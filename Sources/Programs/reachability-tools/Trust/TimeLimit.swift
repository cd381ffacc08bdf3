import CommandLineSupport
import Glibc
import LinuxSupport

/// How long everything may take together. A name service that does not answer cannot be interrupted, so the program ends instead of
/// the work.
struct TimeLimit: Sendable {
    private let argument: DurationArgument
    private let duration: Duration

    /// - Throws: ``ExitMessage`` when the text is no duration.
    init(_ argument: DurationArgument) throws {
        self.argument = argument
        duration = try argument.value
    }

    /// Does the work, or ends the program, with what was waited for.
    func enforce<Value: Sendable>(
        waitingFor what: String,
        _ work: () async throws -> Value
    ) async throws -> Value {
        let isOver = Locked(false)
        let (argument, duration) = (argument, duration)
        let clock = Task {
            try await Task.sleep(for: duration)
            guard isOver.withLock({ $0 }) == false else { return }
            StandardError.write("reachability: waited \(argument.text) for \(what): give more time with --time-limit")
            exit(ExitMessage.Status.temporaryFailure.rawValue)
        }
        defer {
            isOver.withLock { $0 = true }
            clock.cancel()
        }
        return try await work()
    }
}
