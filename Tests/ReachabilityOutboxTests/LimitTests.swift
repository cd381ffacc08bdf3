import ReachabilityOutbox
import Testing

/// Requests that exceed the limits.
@Suite struct LimitTests {
    private let file = ScratchFile()
    private let network = TestNetwork()

    private func options(count: Int = 100, bytes: Int = 100_000, _ whenFull: OutboxOptions.WhenFull) -> OutboxOptions {
        var options = OutboxOptions()
        (options.maximumCount, options.maximumBytes, options.whenFull) = (count, bytes, whenFull)
        return options
    }

    @Test func `a request beyond the maximum count is rejected`() async throws {
        let outbox = try await file.open(options(count: 2, .refuse))
        for name in ["a", "b"] { try await outbox.enqueue(.named(name)) }
        await #expect(throws: OutboxError.full(file: file.path, limit: "2 of 2 requests")) {
            try await outbox.enqueue(.named("c"), priority: 9)
        }
        #expect(try await outbox.entries().count == 2)
    }

    @Test func `a request beyond the maximum size is rejected`() async throws {
        let outbox = try await file.open(options(bytes: 1000, .refuse))
        let large = OutboxRequest("POST", "https://one.example/", body: [UInt8](repeating: 0, count: 600))
        try await outbox.enqueue(large)
        await #expect(throws: OutboxError.full(file: file.path, limit: "624 of 1000 bytes, the request has 624")) {
            try await outbox.enqueue(large)
        }
        let larger = OutboxRequest("POST", "https://one.example/", body: [UInt8](repeating: 0, count: 2000))
        await #expect(throws: OutboxError.full(file: file.path, limit: "request of 2024 bytes, limit 1000")) {
            try await outbox.enqueue(larger)
        }
    }

    @Test func `the oldest requests of the lowest priority are dropped, no more than needed`() async throws {
        let outbox = try await file.open(options(count: 3, .dropOldest))
        for (name, priority) in [("a", 1), ("b", 0), ("c", 0)] {
            try await outbox.enqueue(.named(name), priority: priority)
        }
        try await outbox.enqueue(.named("d"))
        let sender = TestSender()
        try await outbox.flush(sender: sender, coordinator: network.coordinator)
        #expect(sender.bodies == ["a", "c", "d"])
    }

    @Test func `a request of a higher priority is not dropped`() async throws {
        let outbox = try await file.open(options(count: 2, .dropOldest))
        for name in ["a", "b"] { try await outbox.enqueue(.named(name), priority: 1) }
        await #expect(throws: OutboxError.self) { try await outbox.enqueue(.named("c")) }
        #expect(try await outbox.entries().count == 2)
    }

    @Test func `expired requests do not count towards the limits`() async throws {
        var options = options(count: 1, .refuse)
        let clock = TestClock()
        options.use(clock)
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"), expiry: .seconds(1))
        clock.advance(by: .seconds(1))
        try await outbox.enqueue(.named("b"))
        #expect(try await outbox.entries().count == 1)
    }
}
