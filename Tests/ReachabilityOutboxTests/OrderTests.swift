import ReachabilityOutbox
import Testing

/// The order in which requests are sent.
@Suite struct OrderTests {
    private let file = ScratchFile()
    private let network = TestNetwork()
    private var clock: TestClock { network.clock }
    private var options: OutboxOptions { network.options }

    @Test func `requests are sent by priority, then by age`() async throws {
        let outbox = try await file.open(options)
        for (name, priority) in [("a", 0), ("b", 5), ("c", -1), ("d", 5), ("e", 0)] {
            try await outbox.enqueue(.named(name), priority: priority)
        }
        #expect(try await outbox.entries().map(\.priority) == [5, 5, 0, 0, -1])
        let sender = TestSender()
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
        #expect(sender.bodies == ["b", "d", "a", "e", "c"])
    }

    @Test func `a failed request stays first of its origin and does not delay other origins`() async throws {
        let outbox = try await file.open(options)
        for name in ["a", "b"] { try await outbox.enqueue(.named(name)) }
        let sender = TestSender(.retry(after: nil))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 2)
        try await outbox.enqueue(.named("c", to: "two.example"))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
        #expect(sender.bodies.first == "a")
        #expect(sender.bodies.filter { $0 != "c" } == ["a", "a", "b"])
        let keys = sender.sent.filter { $0.request.body == Array("a".utf8) }.map(\.entry.idempotencyKey)
        #expect(Set(keys).count == 1)
        #expect(sender.sent.map(\.entry.attempts).max() == 2)
    }

    @Test func `Retry-After is observed by a later process too`() async throws {
        let sender = TestSender(.retry(after: .seconds(30)))
        do {
            let outbox = try await file.open(options)
            try await outbox.enqueue(.named("a"))
            #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 1)
        }
        let outbox = try await file.open(options)
        // The request that is first now must wait too.
        try await outbox.enqueue(.named("b"), priority: 9)
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 2)
        #expect(try await outbox.entries().last?.notBefore == clock.time + .seconds(30))
        clock.advance(by: .seconds(31))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
        #expect(sender.bodies == ["a", "b", "a"])
    }

    @Test func `a clock that was set back does not delay requests forever`() async throws {
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"))
        let sender = TestSender(.retry(after: .seconds(99_999)))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 1)
        clock.advance(by: .seconds(-5))
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator) == 0)
    }

    @Test func `a rejected request becomes a dead letter with its reason`() async throws {
        var options = options
        options.maximumAttempts = 2
        let outbox = try await file.open(options)
        for name in ["a", "b"] { try await outbox.enqueue(.named(name)) }
        let sender = TestSender(.rejected(reason: "status 400"), .retry(after: nil), .retry(after: nil))
        let events = Events()
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator, report: events.add) == 1)
        #expect(try await outbox.flush(sender: sender, coordinator: network.coordinator, report: events.add) == 0)
        #expect(events.texts == ["rejected status 400", "postponed", "rejected gave up after 2 attempts"])
        #expect(try await outbox.deadLetters().map(\.lastError) == ["status 400", "gave up after 2 attempts"])
    }
}
