import ArgumentParser
import CommandLineSupport
import Glibc
import Netlink
import ReachabilityOutbox

/// `reachability outbox flush`: sends what can be sent now.
struct Flush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send what can be sent now, and print what became of it.",
        usage: "reachability outbox flush [<options>]",
        discussion: """
            curl sends, or another program, which gets the request on standard input and
            ends with 0 for delivered, 65 for never, any other status for later.
            Exit status: 0 nothing is left, 75 something is, 65 a request was rejected.
              reachability outbox flush
              reachability outbox flush --with /usr/local/bin/send-signed
            """
    )

    @Option(help: ArgumentHelp("What sends each request; curl otherwise.", valueName: "program"))
    var with = "curl"

    @Option(help: ArgumentHelp("How long one request may take; 60s otherwise.", valueName: "duration"))
    var timeout: DurationArgument?

    @Option(help: ArgumentHelp("Give a request up after so many attempts.", valueName: "number"))
    var attempts: Int?

    @OptionGroup var outbox: FileOptions

    func run() async throws {
        let limit = try timeout?.value ?? .seconds(60)
        var options = OutboxOptions()
        options.maximumAttempts = attempts
        let outbox = try await outbox.open(options)
        let sender: any OutboxSender =
            with.split(separator: "/").last == "curl"
            ? CurlSender(program: Program(name: with), limit: limit)
            : ProgramSender(program: Program(name: with), limit: limit)
        let rejected = Locked(false)
        let left = try await EndSignals.cancelling {
            try await outbox.flush(sender: sender) { event in
                StandardOutput.write(Array(event.line.utf8))
                if case .rejected = event { rejected.withLock { $0 = true } }
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
