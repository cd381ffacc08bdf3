import ReachabilityOutbox
import Testing

/// Sending until cancelled.
@Suite(.timeLimit(.minutes(15))) struct RunTests {
    private let file = ScratchFile()
    private let network = TestNetwork()
    private var clock: TestClock { network.clock }
    private var options: OutboxOptions { network.options }

    @Test func `nothing is sent while the host is unreachable, and immediately when it is back`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender()
        network.set("one.example", reachable: false)
        try await outbox.enqueue(.named("a"))
        try await outbox.running(sender, network.coordinator) {
            while network.listenerCount("one.example") == 0, !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(1))
            }
            try await outbox.enqueue(.named("b", to: "two.example"))
            await sender.untilSent(1)
            #expect(sender.bodies == ["b"])
            network.set("one.example", reachable: true)
            await sender.untilSent(2)
            #expect(sender.bodies == ["b", "a"])
        }
    }

    @Test func `the wait after a failure doubles each time`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender(.retry(after: nil), .retry(after: nil))
        try await outbox.enqueue(.named("a"))
        try await outbox.running(sender, network.coordinator) {
            await clock.untilSleeping(for: .milliseconds(500))
            #expect(sender.sent.count == 1)
            clock.advance(by: .milliseconds(500))
            await sender.untilSent(2)
            await clock.untilSleeping(for: .seconds(1))
            #expect(sender.sent.count == 2)
            clock.advance(by: .seconds(1))
            await sender.untilSent(3)
        }
    }

    @Test func `the return of the network ends the backoff`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender(.retry(after: nil))
        try await outbox.enqueue(.named("a"))
        try await outbox.running(sender, network.coordinator) {
            await clock.untilSleeping(for: .milliseconds(500))
            network.set("one.example", reachable: false)
            network.set("one.example", reachable: true)
            await sender.untilSent(2)
        }
    }

    @Test func `a send in progress may finish after the task was cancelled`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender()
        sender.hold()
        for name in ["a", "b"] { try await outbox.enqueue(.named(name)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await outbox.run(sender: sender, coordinator: network.coordinator) }
            await sender.untilSent(1)
            #expect(try await outbox.entries().map(\.state) == [.sending, .waiting])
            group.cancelAll()
            await clock.untilSleeping(for: .seconds(10))
            sender.release()
            try await group.waitForAll()
        }
        #expect(sender.bodies == ["a"])
        #expect(try await outbox.entries().count == 1)
    }

    @Test func `a sender that does not finish is cancelled after the drain limit`() async throws {
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"))
        let sender = StubbornSender()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await outbox.run(sender: sender, coordinator: network.coordinator) }
            while !sender.hasBegun, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            group.cancelAll()
            await clock.untilSleeping(for: .seconds(10))
            clock.advance(by: .seconds(10))
            try await group.waitForAll()
        }
        #expect(try await outbox.entries().map(\.state) == [.waiting])
    }

    @Test func `one outbox sends at a time, and the next takes over`() async throws {
        let (first, second) = (try await file.open(options), try await file.open(options))
        let (one, two) = (TestSender(), TestSender())
        one.hold()
        try await first.enqueue(.named("a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            let running = Task { try await first.run(sender: one, coordinator: network.coordinator) }
            await one.untilSent(1)
            await #expect(throws: OutboxError.alreadySending(file: file.path)) {
                try await second.flush(sender: two, coordinator: network.coordinator)
            }
            group.addTask { try await second.run(sender: two, coordinator: network.coordinator) }
            running.cancel()
            one.release()
            _ = await running.result
            try await second.enqueue(.named("b"))
            while two.sent.isEmpty, !Task.isCancelled {
                clock.advance(by: .seconds(1))
                try? await Task.sleep(for: .milliseconds(1))
            }
            #expect(two.bodies == ["b"] && one.bodies == ["a"])
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `a request of another outbox is sent without polling`() async throws {
        var options = options
        options.defaultExpiry = nil
        let (first, second) = (try await file.open(options), try await file.open(options))
        let sender = TestSender()
        try await first.running(sender, network.coordinator) {
            for number in 1...3 {
                try await second.enqueue(.named("\(number)"))
                await sender.untilSent(number)
            }
            #expect(clock.sleeps == 0)
        }
    }

    @Test func `a request that expires while its host is unreachable is reported`() async throws {
        let outbox = try await file.open(options)
        network.set("one.example", reachable: false)
        try await outbox.enqueue(.named("a"), expiry: .seconds(60))
        let (expiries, told) = AsyncStream.makeStream(of: OutboxEvent.self)
        try await outbox.running(TestSender(), network.coordinator, report: { told.yield($0) }) {
            await clock.untilSleeping(for: .seconds(60))
            clock.advance(by: .seconds(60))
            for await case .expired in expiries { break }
        }
        #expect(try await outbox.entries().isEmpty)
    }
}
