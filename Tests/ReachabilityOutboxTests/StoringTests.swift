import ReachabilityOutbox
import ReachabilityRetry
import Testing

/// Adding requests: content, keys, expiry and validation.
@Suite struct StoringTests {
    private let file = ScratchFile()
    private let network = TestNetwork()
    private var clock: TestClock { network.clock }
    private var options: OutboxOptions { network.options }

    @Test func `a request is sent unchanged, with a key`() async throws {
        let outbox = try await file.open(options)
        let headers = [("Accept", "a: b"), ("X-Empty", ""), ("Accept", "c")].map {
            RequestHead.Field(name: $0.0, value: $0.1)
        }
        let body = (0...255).map { UInt8($0) }
        let request = OutboxRequest("PATCH", "http://user.example:8080/a?b=c#d", headers: headers, body: body)
        let addition = try await outbox.enqueue(request)
        guard case .added(let entry) = addition else { throw Unexpected() }
        let sender = TestSender()
        try await outbox.flush(sender: sender, coordinator: network.coordinator)
        let sent = try #require(sender.sent.first)
        #expect(sent.request.body == body)
        #expect(sent.request.url == request.url && sent.request.method == "PATCH")
        #expect(
            sent.request.headers == headers + [RequestHead.Field(name: "Idempotency-Key", value: entry.idempotencyKey)]
        )
        #expect(entry.idempotencyKey.utf8.count == 32)
        #expect(entry.origin == "http://user.example:8080")
    }

    @Test func `a key of the request is kept`() async throws {
        let outbox = try await file.open(options)
        try await outbox.enqueue(
            OutboxRequest(
                "POST",
                "https://one.example/",
                headers: [.init(name: "idempotency-key", value: "\"mine\"")]
            )
        )
        let sender = TestSender()
        try await outbox.flush(sender: sender, coordinator: network.coordinator)
        #expect(sender.sent.first?.request.headers == [.init(name: "idempotency-key", value: "\"mine\"")])
        #expect(sender.sent.first?.entry.idempotencyKey == "\"mine\"")
    }

    @Test func `expired requests are not sent`() async throws {
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"), expiry: .seconds(10))
        try await outbox.enqueue(.named("b"), expiry: .seconds(20))
        clock.advance(by: .seconds(10))
        #expect(try await outbox.entries().count == 1)
        let sender = TestSender()
        let events = Events()
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator, report: events.add) == 0)
        #expect(sender.bodies == ["b"])
        #expect(events.texts == ["expired", "delivered"])
    }

    @Test func `of requests with the same dedupe key only the first is kept while it waits and after its delivery`()
        async throws
    {
        let outbox = try await file.open(options)
        guard case .added(let entry) = try await outbox.enqueue(.named("a"), dedupeKey: "k") else { throw Unexpected() }
        #expect(try await outbox.enqueue(.named("b"), dedupeKey: "k") == .waiting(entry))
        let sender = TestSender()
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
        #expect(try await outbox.enqueue(.named("c"), dedupeKey: "k") == .delivered)
        clock.advance(by: options.dedupeWindow + .seconds(1))
        guard case .added = try await outbox.enqueue(.named("d"), dedupeKey: "k") else { throw Unexpected() }
        #expect(sender.bodies == ["a"])
    }

    @Test func `the dedupe key of an expired, rejected or dropped request can be used again`() async throws {
        let outbox = try await file.open(options)
        guard case .added = try await outbox.enqueue(.named("a"), dedupeKey: "k", expiry: .seconds(1)) else {
            throw Unexpected()
        }
        clock.advance(by: .seconds(2))
        guard case .added = try await outbox.enqueue(.named("b"), dedupeKey: "k") else { throw Unexpected() }
        let sender = TestSender(.rejected(reason: "status 400"))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
        guard case .added(let entry) = try await outbox.enqueue(.named("c"), dedupeKey: "k") else { throw Unexpected() }
        #expect(try await outbox.drop(entry.id))
        #expect(try await !outbox.drop(entry.id))
        guard case .added = try await outbox.enqueue(.named("d"), dedupeKey: "k") else { throw Unexpected() }
    }

    @Test func `a claimed expired request gets the lifetime of the request added again`() async throws {
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"), dedupeKey: "k", expiry: .seconds(1))
        // The state that a killed process leaves.
        _ = try file.sqlite("UPDATE request SET isClaimed = 1;")
        clock.advance(by: .seconds(2))
        let again = try await outbox.enqueue(.named("b"), dedupeKey: "k", expiry: .seconds(10))
        guard case .waiting(let entry) = again else { throw Unexpected() }
        #expect(entry.expiresAt == clock.time + .seconds(10))
        let sender = TestSender()
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
        #expect(sender.bodies == ["a"])
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(-1)])
    func `an expiry that is not positive is rejected`(expiry: Duration) async throws {
        let outbox = try await file.open(options)
        await #expect(throws: OutboxError.invalidRequest("the expiry \(expiry) is not positive")) {
            try await outbox.enqueue(.named("a"), expiry: expiry)
        }
        #expect(try await outbox.entries().isEmpty)
    }

    @Test(arguments: [
        ("POST", "ftp://one.example/"), ("POST", "/path"), ("POST", "https://"),
        ("POST", "https://user:p@one.example/"),
        ("POST", "https://one.example:0/"), ("POST", "https://one.example:99999/"), ("PO ST", "https://one.example/"),
        ("", "https://one.example/"), ("POST", "https://one.example/a b"), ("POST", "https://one.example/\n"),
        ("POST", "https://fe80--1/\u{e9}"), ("POST", "https://a..b/"),
    ])
    func `an invalid method or URL is rejected`(method: String, url: String) async throws {
        let outbox = try await file.open(options)
        await #expect { try await outbox.enqueue(OutboxRequest(method, url)) } throws: { error in
            guard case OutboxError.invalidRequest(let text)? = error as? OutboxError else { return false }
            return !text.contains("one.example")
        }
    }

    @Test(arguments: [
        ("A B", "c"), ("A:", "c"), ("", "c"), ("A", "c\r\nHost: evil"), ("A", "c\u{0}"), ("Idempotency-Key", ""),
        ("Content-Length", "7"), ("transfer-encoding", "chunked"), ("HOST", "two.example"), ("Connection", "close"),
        ("TE", "trailers"), ("Upgrade", "h2c"), ("Expect", "100-continue"),
    ])
    func `an invalid header is rejected`(name: String, value: String) async throws {
        let outbox = try await file.open(options)
        await #expect(throws: OutboxError.self) {
            try await outbox.enqueue(
                OutboxRequest("POST", "https://one.example/", headers: [.init(name: name, value: value)])
            )
        }
        #expect(try await outbox.entries().isEmpty)
    }

    struct Unexpected: Error {}
}
