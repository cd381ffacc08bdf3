import LinuxSupport
import Netlink
import ReachabilityOutbox
import Testing

/// Requests that are rejected, held or expired. Each is reported.
@Suite struct DeadLetterTests {
    private let file = ScratchFile()
    private let network = TestNetwork()
    private var clock: TestClock { network.clock }
    private var options: OutboxOptions { network.options }

    @Test func `a rejected or expired request is reported before it is removed`() async throws {
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"), expiry: .seconds(1))
        try await outbox.enqueue(.named("b"))
        clock.advance(by: .seconds(2))
        let seen = Locked<[String]>([])
        let sender = TestSender(.rejected(reason: "status 404"))
        let query = "SELECT (SELECT group_concat(id) FROM request), (SELECT count(*) FROM dead);"
        try await outbox.flush(sender: sender, coordinator: network.coordinator) { [file] event in
            let rows = (try? file.sqlite(query)) ?? ""
            seen.withLock { $0.append(rows) }
        }
        #expect(seen.withLock { $0 } == ["1,2|0\n", "2|0\n"])
        #expect(try file.sqlite(query) == "|1\n")
    }

    @Test func `a requeued dead letter is unchanged and starts with zero attempts`() async throws {
        let outbox = try await file.open(options)
        guard
            case .added(let first) = try await outbox.enqueue(
                .named("a"),
                dedupeKey: "k",
                priority: 3,
                expiry: .seconds(60)
            )
        else { return }
        let sender = TestSender(.retry(after: nil, cause: "status 500"), .rejected(reason: "status 404"))
        try await outbox.flush(sender: sender, coordinator: network.coordinator)
        #expect(try await outbox.entries().first?.lastError == "status 500")
        try await outbox.flush(sender: sender, coordinator: network.coordinator)
        let dead = try #require(try await outbox.deadLetters().first)
        #expect(
            dead.state == .dead && dead.lastError == "status 404" && dead.attempts == 2 && dead.diedAt == clock.time
        )
        #expect(try await outbox.entries().isEmpty)
        clock.advance(by: .seconds(1000))
        #expect(try await outbox.requeue(dead.id))
        #expect(try await !outbox.requeue(dead.id))
        let again = try #require(try await outbox.entries().first)
        #expect(again.id == first.id && again.priority == 3 && again.dedupeKey == "k" && again.attempts == 0)
        #expect(again.idempotencyKey == first.idempotencyKey && again.expiresAt == clock.time + .seconds(60))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
        #expect(Set(sender.sent.map(\.entry.idempotencyKey)).count == 1)
        #expect(try await outbox.deadLetters().isEmpty)
    }

    @Test func `a dead letter is not requeued while its dedupe key waits`() async throws {
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"), dedupeKey: "k")
        try await outbox.flush(sender: TestSender(.rejected(reason: "no")), coordinator: network.coordinator)
        try await outbox.enqueue(.named("b"), dedupeKey: "k")
        await #expect(throws: OutboxError.self) { try await outbox.requeue(1) }
        #expect(try await outbox.drop(2))
        #expect(try await outbox.requeue(1))
    }

    @Test func `dead letters count towards the limits and are deleted first`() async throws {
        var options = options
        options.maximumCount = 2
        let outbox = try await file.open(options)
        for name in ["a", "b"] { try await outbox.enqueue(.named(name)) }
        try await outbox.flush(
            sender: TestSender(.rejected(reason: "no"), .retry(after: nil)),
            coordinator: network.coordinator
        )
        let limit = "2 of 2 requests, dead letters: 1"
        await #expect(throws: OutboxError.full(file: file.path, limit: limit)) { try await outbox.enqueue(.named("c")) }
        let events = Events()
        options.whenFull = .dropOldest
        options.report = events.add
        let other = try await file.open(options)
        try await other.enqueue(.named("c"))
        #expect(events.texts == ["dropped 1"])
        #expect(try await other.entries().map(\.id) == [2, 3])
    }

    @Test func `a held request counts no attempt and waits until it expires`() async throws {
        var options = options
        options.maximumAttempts = 1
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"))
        let events = Events()
        let sender = TestSender(.held(cause: "a portal"), .held(cause: "a portal"), .held(cause: "a portal"))
        for _ in 0..<3 {
            try await outbox.flush(sender: sender, coordinator: network.coordinator, report: events.add)
        }
        #expect(events.texts == ["held a portal", "held a portal", "held a portal"])
        #expect(try await outbox.entries().map(\.attempts) == [0])
        clock.advance(by: .seconds(7 * 86_400))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator, report: events.add) == 0)
        #expect(events.texts.last == "expired")
        #expect(sender.sent.count == 3)
    }

    @Test func `a failing server leads to dead letters, an absent one to expiry`() async throws {
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"))
        let sender = TestSender()
        _ = try file.sqlite("UPDATE request SET attempts = 998;")
        sender.answer(.retry(after: nil), .retry(after: nil))
        for _ in 0..<2 { try await outbox.flush(sender: sender, coordinator: network.coordinator) }
        #expect(try await outbox.deadLetters().map(\.lastError) == ["gave up after 1000 attempts"])
        try await outbox.enqueue(.named("b"))
        network.set("one.example", reachable: false)
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 1)
        clock.advance(by: .seconds(7 * 86_400))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
    }

    @Test func `each port has a separate queue, and flush reports the skipped requests`() async throws {
        let outbox = try await file.open(options)
        for host in [
            "one.example:8081", "one.example:8081", "one.example:8080", "one.example", "one.example:443", "two.example",
        ] {
            try await outbox.enqueue(.named(host, to: host))
        }
        network.set("two.example", reachable: false)
        let events = Events()
        let sender = TestSender()
        sender.answer(to: "one.example:8081", .retry(after: nil, cause: "refused"))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator, report: events.add) == 3)
        #expect(sender.bodies.filter { $0 == "one.example:8081" }.count == 1)
        #expect(Set(sender.bodies) == ["one.example:8081", "one.example:8080", "one.example", "one.example:443"])
        #expect(events.texts.contains("https://one.example:8081 1 behind 1"))
        #expect(events.texts.contains("https://two.example 1 not reachable "))
        #expect(try await outbox.entries().first { $0.id == 1 }?.lastError == "refused")
    }

    @Test func `a failing service does not delay another one on the same host`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender()
        sender.answer(to: "dead", .retry(after: nil, cause: "refused"))
        try await outbox.enqueue(.named("dead", to: "one.example:8081"))
        try await outbox.running(sender, network.coordinator) {
            // The feed waits for the backoff after the failure.
            await clock.untilSleeping(for: .milliseconds(500))
            let entry = try #require(try await outbox.entries().first)
            #expect(entry.nextTry == clock.time + .milliseconds(500) && entry.lastError == "refused")
            try await outbox.enqueue(.named("b", to: "one.example:8080"))
            await sender.untilSent(2)
            #expect(sender.bodies == ["dead", "b"])
        }
    }
}
