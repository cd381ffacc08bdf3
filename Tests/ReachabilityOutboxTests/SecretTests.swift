import Logging
import Netlink
import ReachabilityOutbox
import Testing

/// Headers, bodies, paths and queries stay where they are.
@Suite struct SecretTests {
    private let file: ScratchFile
    private let request = OutboxRequest(
        "POST",
        "https://one.example/hush/path?token=hush#hush",
        headers: [OutboxHeader("Authorization", "Bearer hush")],
        body: Array("hush".utf8)
    )

    init() throws {
        file = try ScratchFile()
    }

    @Test func `no description has them`() {
        var dumped = ""
        dump(request, to: &dumped)
        for text in [
            "\(request)", String(reflecting: request), dumped, "\(request.headers)", String(reflecting: [request]),
        ] {
            #expect(!text.contains("hush"))
        }
        #expect("\(request)" == "POST https://one.example, 1 headers, 4 bytes of body")
    }

    @Test func `no log has them`() async throws {
        let log = Log()
        var options = OutboxOptions()
        options.maximumCount = 2
        options.whenFull = .dropOldest
        var logger = Logger(label: "test") { _ in log }
        logger.logLevel = .trace
        options.logger = logger
        let outbox = try await file.open(options)
        for _ in 0..<3 { try await outbox.enqueue(request) }
        let sender = TestSender(.retry(after: nil), .rejected(reason: "status 400"))
        for _ in 0..<3 { try await outbox.flush(sender: sender, reachability: .always) }
        let lines = log.lines
        #expect(lines.contains { $0.contains("delivered") } && lines.contains { $0.contains("given up") })
        #expect(lines.allSatisfy { !$0.contains("hush") }, "\(lines)")
    }

    /// Keeps what is logged.
    private final class Log: LogHandler {
        private let state: Locked<[String]> = Locked([])
        var lines: [String] { state.withLock { $0 } }
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) {
            state.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }
}
