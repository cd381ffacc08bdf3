import LinuxSupport
import Logging
import Netlink
import ReachabilityOutbox
import ReachabilityRetry
import TestSupport
import Testing

/// Headers, bodies, paths and queries do not appear outside the file, and are erased from it.
@Suite struct SecretTests {
    private let file = ScratchFile()
    private let request = OutboxRequest(
        "POST",
        "https://one.example/hush/path?token=hush#hush",
        headers: [.init(name: "Authorization", value: "Bearer hush")],
        body: Array("hush".utf8)
    )

    @Test func `no description contains secrets`() {
        var dumped = ""
        dump(request, to: &dumped)
        for text in [
            "\(request)", String(reflecting: request), dumped, "\(request.headers)", String(reflecting: [request]),
        ] {
            #expect(!text.contains("hush"))
        }
        #expect("\(request)" == "POST https://one.example, 1 headers, 4 bytes of body")
    }

    @Test func `no log contains secrets`() async throws {
        let log = RecordingLog { "\($0.message) \($0.metadata ?? [:])" }
        var options = OutboxOptions()
        options.maximumCount = 2
        options.whenFull = .dropOldest
        options.logger = log.logger
        let outbox = try await file.open(options)
        for _ in 0..<3 { try await outbox.enqueue(request) }
        let sender = TestSender(.retry(after: nil), .rejected(reason: "status 400"))
        for _ in 0..<3 {
            try await outbox.flush(
                sender: sender,
                coordinator: RetryCoordinator(reachability: UnmonitoredReachability())
            )
        }
        let lines = log.lines
        #expect(lines.contains { $0.contains("delivered") } && lines.contains { $0.contains("rejected") })
        #expect(lines.allSatisfy { !$0.contains("hush") }, "\(lines)")
    }

    /// The way in which a request leaves the outbox.
    enum Leaving: CaseIterable {
        case delivered, dropped, droppedWithAll, expired, expiredOnEnqueue, madeRoom, deadLetterDropped,
            deadLetterDelivered
    }

    @Test(arguments: Leaving.allCases, [8, 40_000])
    func `a removed request is in none of the files while they stay open`(
        leaving: Leaving,
        size: Int
    ) async throws {
        let clock = TestClock()
        var options = OutboxOptions()
        options.use(clock)
        (options.maximumCount, options.whenFull) = (3, .dropOldest)
        let outbox = try await file.open(options)
        // Another user has the file open, like a program that only adds requests.
        let other = try await file.open(options)
        let token = "SECRET-7f1c"
        let secret = OutboxRequest(
            "POST",
            "https://one.example/?token=\(token)",
            headers: [.init(name: "Authorization", value: token)],
            body: Array(String(repeating: token, count: size / token.utf8.count + 1).utf8)
        )
        try await other.enqueue(.named("before"), priority: 9)
        try await other.enqueue(secret, expiry: .seconds(60))
        try await other.enqueue(.named("after", to: "two.example"), priority: 9)
        #expect(try file.contents(contain: token))
        let sender = TestSender()
        switch leaving {
        case .delivered:
            try await outbox.flush(
                sender: sender,
                coordinator: RetryCoordinator(reachability: UnmonitoredReachability())
            )
        case .dropped: try await outbox.drop(2)
        case .droppedWithAll: try await outbox.dropAll()
        case .expired:
            clock.advance(by: .seconds(60))
            try await outbox.flush(
                sender: sender,
                coordinator: RetryCoordinator(reachability: UnmonitoredReachability())
            )
        case .expiredOnEnqueue:
            clock.advance(by: .seconds(60))
            try await outbox.enqueue(.named("last"))
        case .madeRoom: try await outbox.enqueue(.named("last"), priority: 1)
        case .deadLetterDropped, .deadLetterDelivered:
            sender.answer(to: String(decoding: secret.body, as: UTF8.self), .rejected(reason: "status 404"))
            try await outbox.flush(
                sender: sender,
                coordinator: RetryCoordinator(reachability: UnmonitoredReachability())
            )
            #expect(try file.contents(contain: token))
            if leaving == .deadLetterDropped {
                try await outbox.drop(2)
            } else {
                try await outbox.requeue(2)
                try await outbox.flush(
                    sender: TestSender(),
                    coordinator: RetryCoordinator(reachability: UnmonitoredReachability())
                )
            }
        }
        #expect(try !file.contents(contain: token))
        withExtendedLifetime((outbox, other)) {}
    }

    @Test func `data that a killed process had deleted is erased at the next open`() async throws {
        let outbox = try await file.open()
        try await outbox.enqueue(request)
        // The state that an earlier version leaves: deleted, but still in the log.
        _ = try file.sqlite(".dbconfig no_ckpt_on_close on\nPRAGMA secure_delete = ON; DELETE FROM request;")
        #expect(try file.contents(contain: "hush"))
        let again = try await file.open()
        #expect(try !file.contents(contain: "hush"))
        withExtendedLifetime((outbox, again)) {}
    }
}
