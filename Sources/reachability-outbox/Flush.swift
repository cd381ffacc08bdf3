import ArgumentParser
import CommandLineSupport
import Glibc
import Netlink
import ReachabilityOutbox

/// `reachability outbox flush`: sends what can be sent now.
struct Flush: AsyncParsableCommand {
    static let configuration = OutboxFlushArguments.configuration

    @OptionGroup var arguments: OutboxFlushArguments

    func run() async throws {
        let limit = try arguments.timeout?.value ?? .seconds(60)
        var options = OutboxOptions()
        options.maximumAttempts = arguments.attempts
        let program = Program(name: arguments.with)
        let sender: any OutboxSender =
            program.name.split(separator: "/").last == "curl"
            ? CurlSender(program: program, limit: limit) : ProgramSender(program: program, limit: limit)
        let rejected = Locked(false)
        let left = try await arguments.outbox.withExisting(options) { outbox in
            try await EndSignals.cancelling {
                try await outbox.flush(sender: sender) { event in
                    StandardOutput.write(text: event.line)
                    if case .rejected = event { rejected.withLock { $0 = true } }
                }
            }
        }
        if rejected.withLock({ $0 }) { throw ExitCode(ExitMessage.Status.dataError.rawValue) }
        if left > 0 { throw ExitCode(ExitMessage.Status.temporaryFailure.rawValue) }
    }
}

extension OutboxEvent {
    /// For example `12: delivered`.
    fileprivate var line: String {
        switch self {
        case .delivered(let entry): "\(entry.id): delivered"
        case .postponed(let entry): "\(entry.id): not delivered, attempt \(entry.attempts)"
        case .rejected(let entry, let reason): "\(entry.id): rejected, \(reason)"
        case .expired(let entry): "\(entry.id): expired"
        }
    }
}
