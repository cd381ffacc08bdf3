import LinuxSupport
import ReachabilityOutbox
import ReachabilityRetry
import Testing

/// The use of the retry engine by an outbox, and the state that it shares with other requests.
@Suite(.timeLimit(.minutes(15))) struct EngineTests {
    private let file = ScratchFile()
    private let network = TestNetwork()
    private var clock: TestClock { network.clock }
    private var options: OutboxOptions { network.options }

    @Test func `Retry-After of an outbox request applies to other requests too`() async throws {
        let outbox = try await file.open(options)
        let coordinator = network.coordinator
        let sender = TestSender(.retry(after: .seconds(30)))
        try await outbox.enqueue(.named("a"))
        try await outbox.running(sender, coordinator) {
            await clock.untilSleeping(for: .milliseconds(500))
            let (reasons, isDone) = (Locked<[RetryReason?]>([]), Locked(false))
            let policy = try RetryPolicy(deadline: .seconds(86_400), attempts: 1, waitsFirst: true)
            let target = try RetryTarget(host: "one.example", method: .get)
            let other = Task { [clock] in
                _ = try await withRetry(
                    policy: policy,
                    target: target,
                    coordinator: coordinator,
                    clock: clock,
                    observer: { event in
                        if case .waiting(_, let attempt, _) = event { reasons.withLock { $0.append(attempt.reason) } }
                    },
                    operation: { $0 }
                )
                isDone.withLock { $0 = true }
            }
            while reasons.withLock({ $0.isEmpty }), !Task.isCancelled { await Task.yield() }
            #expect(reasons.withLock { $0 } == [.retryAfter])
            clock.advance(by: .milliseconds(500))
            await clock.untilSleeping(for: .milliseconds(29_500))
            #expect(sender.sent.count == 1)
            // One of the two requests starts, and the other when the rate permits it.
            while sender.sent.count < 2 || !isDone.withLock({ $0 }), !Task.isCancelled {
                clock.advance(by: .seconds(1))
                try? await Task.sleep(for: .milliseconds(1))
            }
            try await other.value
        }
        #expect(sender.bodies == ["a", "a"])
    }

    @Test func `Retry-After of zero does not shorten the backoff`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender(.retry(after: .zero), .retry(after: .seconds(-1)))
        try await outbox.enqueue(.named("a"))
        try await outbox.running(sender, network.coordinator) {
            await clock.untilSleeping(for: .milliseconds(500))
            clock.advance(by: .milliseconds(500))
            await clock.untilSleeping(for: .seconds(1))
            #expect(sender.sent.count == 2)
        }
    }

    @Test func `retries of the outbox do not use the budget`() async throws {
        let outbox = try await file.open(options)
        let coordinator = network.coordinator
        let sender = TestSender(.retry(after: nil), .held(cause: "a portal"))
        try await outbox.enqueue(.named("a"))
        let budget = coordinator.remainingBudget(for: "one.example")
        try await outbox.running(sender, coordinator) {
            await clock.untilSleeping(for: .milliseconds(500))
            clock.advance(by: .milliseconds(500))
            await clock.untilSleeping(for: .seconds(1))
            #expect(sender.sent.count == 2)
            #expect(coordinator.remainingBudget(for: "one.example") == budget)
        }
    }

    @Test func `the attempt after a wait takes the request that is first then`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender(.retry(after: nil), .retry(after: nil))
        try await outbox.enqueue(.named("a"))
        try await outbox.running(sender, network.coordinator) {
            await clock.untilSleeping(for: .milliseconds(500))
            try await outbox.enqueue(.named("b"), priority: 1)
            clock.advance(by: .milliseconds(500))
            await clock.untilSleeping(for: .seconds(1))
            #expect(sender.bodies == ["a", "b"])
            #expect(try await outbox.drop(2))
            clock.advance(by: .seconds(1))
            await sender.untilSent(3)
            #expect(sender.bodies == ["a", "b", "a"])
        }
    }

    @Test func `an unresolved name counts no attempt, and its resolution ends the wait`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender()
        network.set("one.example", reachable: false, reason: .nameNotResolved)
        try await outbox.enqueue(.named("a"))
        try await outbox.running(sender, network.coordinator) {
            await clock.untilSleeping(for: .milliseconds(500))
            clock.advance(by: .milliseconds(500))
            await clock.untilSleeping(for: .seconds(1))
            #expect(sender.sent.isEmpty)
            // Two starts of a host are at least this far apart.
            clock.advance(by: .milliseconds(10))
            network.set("one.example", reachable: true)
            await sender.untilSent(1)
            #expect(sender.sent.first?.entry.attempts == 1)
        }
    }

    @Test func `after a minute one request is sent as a probe, and the others follow`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender()
        network.set("one.example", reachable: false)
        for name in ["a", "b"] { try await outbox.enqueue(.named(name)) }
        try await outbox.running(sender, network.coordinator) {
            await clock.untilSleeping(for: .seconds(60))
            #expect(sender.sent.isEmpty)
            clock.advance(by: .seconds(60))
            await sender.untilSent(2)
            #expect(sender.bodies == ["a", "b"])
        }
    }

    @Test func `a shutdown of the coordinator ends the run and keeps the requests`() async throws {
        let outbox = try await file.open(options)
        let coordinator = network.coordinator
        let sender = TestSender(.retry(after: nil, cause: "status 500"))
        try await outbox.enqueue(.named("a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await outbox.run(sender: sender, coordinator: coordinator) }
            await clock.untilSleeping(for: .milliseconds(500))
            await coordinator.shutDown(.cancel)
            try await group.waitForAll()
        }
        let entry = try #require(try await outbox.entries().first)
        #expect(entry.state == .waiting && entry.attempts == 1 && sender.sent.count == 1)
    }
}
