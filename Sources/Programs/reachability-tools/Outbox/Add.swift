import ArgumentParser
import CommandLineSupport
import ReachabilityOutbox
import ReachabilityRetry

/// `reachability outbox add`: one request more.
struct Add: AsyncParsableCommand {
    static let configuration = OutboxAddArguments.configuration

    @OptionGroup var arguments: OutboxAddArguments

    func run() async throws {
        var options = OutboxOptions()
        if let count = arguments.maxCount { options.maximumCount = count }
        if arguments.dropOldest { options.whenFull = .dropOldest }
        options.report = { StandardError.write("reachability: \($0.line)") }
        let expiry = try arguments.expires?.value
        let limit = options.maximumBytes
        let request = OutboxRequest(
            arguments.method,
            arguments.url,
            headers: try arguments.headers.flatMap { try HeaderArgument(text: $0).headers },
            body: try arguments.body.map { try ArgumentFile.bytes($0, limit: limit) } ?? []
        )
        let addition = try await arguments.outbox.with(options) { outbox in
            try await outbox.enqueue(
                request,
                dedupeKey: arguments.key,
                priority: arguments.priority,
                expiry: expiry
            )
        }
        let text =
            switch addition {
            case .added(let entry): "\(entry.id)"
            case .waiting(let entry): "\(entry.id) (already waiting)"
            case .delivered: "already delivered"
            }
        StandardOutput.write(Array(text.utf8))
    }
}
