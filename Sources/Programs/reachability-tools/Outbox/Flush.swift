import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityHTTP
import ReachabilityOutbox
import ReachabilityRetry

/// `reachability outbox flush`: sends what can be sent now.
struct Flush: AsyncParsableCommand {
    static let configuration = OutboxFlushArguments.configuration

    @OptionGroup var arguments: OutboxFlushArguments

    func run() async throws {
        let limit = try arguments.timeout?.value ?? .seconds(60)
        var options = OutboxOptions()
        if let attempts = arguments.attempts { options.maximumAttempts = attempts }
        if let name = arguments.with {
            try await flush(options, ProgramSender(program: Program(name: name), limit: limit), .shared)
        } else {
            let proof = try arguments.expect.map { try DeliveryProof(argument: $0) }
            let sender = ClientSender(limit: limit, proof: proof)
            let result: Result<Void, any Error>
            do { result = .success(try await flush(options, sender, .init(verdicts: ProxiedVerdicts()))) } catch {
                result = .failure(error)
            }
            await sender.close()
            try result.get()
        }
    }

    private func flush(
        _ options: OutboxOptions,
        _ sender: some OutboxSender,
        _ coordinator: RetryCoordinator
    ) async throws {
        let (hasLost, isSilent) = (Locked(false), Locked(true))
        let left = try await arguments.outbox.withExisting(options) { outbox in
            let left = try await EndSignals.cancelling {
                try await outbox.flush(sender: sender, coordinator: coordinator) { event in
                    isSilent.withLock { $0 = false }
                    switch event {
                    // What is lost must not go unseen where only the results are thrown away.
                    case .expired: StandardError.write("reachability: \(event.line)")
                    default: StandardOutput.write(text: event.line)
                    }
                    switch event {
                    case .expired, .rejected: hasLost.withLock { $0 = true }
                    default: break
                    }
                }
            }
            if isSilent.withLock({ $0 }), left == 0 {
                let dead = try await outbox.deadLetters().count
                let hint = dead == 0 ? "" : "; dead letters: \(dead), see `reachability outbox list`"
                StandardOutput.write(text: "nothing to send\(hint)")
            }
            return left
        }
        if hasLost.withLock({ $0 }) { throw ExitCode(ExitMessage.Status.dataError.rawValue) }
        if left > 0 { throw ExitCode(ExitMessage.Status.temporaryFailure.rawValue) }
    }
}

/// SIGINT and SIGTERM, which let what is under way come to its end.
///
/// C counterpart: `signal(7)`.
private enum EndSignals {
    /// Runs `work` in a task that either of them cancels.
    static func cancelling<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value
    {
        let task = Task { try await work() }
        let sources = SignalSources([SIGINT, SIGTERM]) { _ in task.cancel() }
        defer { sources.cancel() }
        return try await task.value
    }
}

extension OutboxEvent {
    /// For example `12: delivered`.
    var line: String {
        switch self {
        case .delivered(let entry): "\(entry.id): delivered"
        case .postponed(let entry):
            "\(entry.id): not delivered, attempt \(entry.attempts)\(entry.lastError.map { ": \($0)" } ?? "")"
        case .held(let entry): "\(entry.id): waits, \(entry.lastError ?? "")"
        case .rejected(let entry, let reason): "\(entry.id): dead letter, \(reason)"
        case .expired(let entry): "\(entry.id): expired, deleted unsent: \(entry.method) \(entry.origin)"
        case .dropped(let entry): "\(entry.id): deleted unsent to make room: \(entry.method) \(entry.origin)"
        case .skipped(let origin, let count, .notReachable(let reason)):
            "\(origin): \(count) left, not reachable\(reason.map { ": \($0)" } ?? "")"
        case .skipped(let origin, let count, .until(let time)):
            "\(origin): \(count) left, not before \(Timestamp(real: time).text), as the server said"
        case .skipped(let origin, let count, .behind(let id)): "\(origin): \(count) left behind \(id)"
        }
    }
}
