import LinuxSupport
import ReachabilityRetry
import TestSupport
import Testing

@testable import ReachabilityOutbox

/// Rows that no version writes, and wrong clocks.
@Suite struct DamagedRowTests {
    private let file = ScratchFile()
    private let network = TestNetwork()
    private var clock: TestClock { network.clock }
    private var options: OutboxOptions { network.options }

    @Test func `extreme numbers in rows cause no crash`() async throws {
        let columns = [
            "priority", "enqueuedAt", "expiresAt", "notBefore", "attempts", "isClaimed", "size", "nextTryAt",
        ]
        for (table, names) in [
            ("request", columns), ("dead", ["enqueuedAt", "expiresAt", "attempts", "size", "diedAt"]),
        ] {
            for name in names {
                for number in ExtremeValues.integers {
                    let file = ScratchFile()
                    let outbox = try await file.open(options)
                    try await outbox.enqueue(.named("a"))
                    try await outbox.enqueue(.named("b"))
                    let sender = TestSender(.rejected(reason: "no"), .retry(after: nil))
                    try await outbox.flush(sender: sender, coordinator: network.coordinator)
                    try await outbox.close()
                    _ = try file.sqlite("UPDATE \(table) SET \(name) = \(number);")
                    for entry in try await Outbox.allEntries(inFile: file.path) {
                        for time in [entry.enqueuedAt, entry.expiresAt, entry.notBefore, entry.nextTry, entry.diedAt] {
                            #expect(time.map { Timestamp(real: $0).text.utf8.count == 24 } ?? true)
                        }
                    }
                    let again = try await file.open(options)
                    _ = try? await again.enqueue(.named("c"))
                    try await again.flush(
                        sender: TestSender(.retry(after: .seconds(5))),
                        coordinator: network.coordinator
                    )
                    _ = try? await again.requeue(1)
                    try await again.flush(sender: TestSender(), coordinator: network.coordinator)
                    _ = try await again.drop(1)
                    try await again.close()
                }
            }
        }
    }

    @Test func `extreme durations in options cause no crash`() async throws {
        for seconds in [Int64.max, 1 << 62, 1 << 40] {
            let file = ScratchFile()
            var options = options
            options.maximumRetryAfter = .seconds(seconds)
            options.dedupeWindow = .seconds(seconds)
            options.defaultExpiry = .seconds(seconds)
            let outbox = try await file.open(options)
            try await outbox.enqueue(.named("a"), dedupeKey: "a")
            let sender = TestSender(.retry(after: .seconds(seconds)))
            try await outbox.flush(sender: sender, coordinator: network.coordinator)
            #expect(try await outbox.entries().count == 1)
        }
    }

    @Test func `an invalid stored request becomes a dead letter immediately and delays no other`() async throws {
        let outbox = try await file.open(options)
        for name in ["method", "field", "value", "url", "good"] { try await outbox.enqueue(.named(name)) }
        _ = try file.sqlite(
            """
            UPDATE request SET method = 'PO ST' WHERE id = 1;
            UPDATE request SET headers = 'na me:x' WHERE id = 2;
            UPDATE request SET headers = 'name:' || char(1) WHERE id = 3;
            UPDATE request SET url = 'https://one.example/ /' WHERE id = 4;
            """
        )
        let (sender, events) = (TestSender(), Events())
        try await outbox.flush(sender: sender, coordinator: network.coordinator, report: events.add)
        #expect(sender.bodies == ["good"])
        #expect(events.texts.count { $0.hasPrefix("rejected cannot send the stored request: ") } == 4)
        let reasons = try await outbox.deadLetters().compactMap(\.lastError)
        #expect(
            reasons.first == "cannot send the stored request: the method is not a token such as POST"
                && reasons.count == 4
        )
    }

    @Test func `a header value that starts with a combining mark is sent unchanged`() async throws {
        let outbox = try await file.open(options)
        let values = ["\u{301}abc", "a:\u{301}", "", ":", "\u{301}"]
        let headers = values.map { RequestHead.Field(name: "X-Value", value: $0) }
        try await outbox.enqueue(OutboxRequest("POST", "https://one.example/", headers: headers))
        let sender = TestSender()
        try await outbox.flush(sender: sender, coordinator: network.coordinator)
        let sent = try #require(sender.sent.first).request.headers.filter { $0.name == "X-Value" }
        #expect(sent.map { Array($0.value.utf8) } == values.map { Array($0.utf8) })
    }

    @Test func `a URL that redirects does not delay other URLs of its origin`() async throws {
        let outbox = try await file.open(options)
        func request(_ path: String) -> OutboxRequest {
            OutboxRequest("POST", "https://one.example/\(path)", body: Array(path.utf8))
        }
        let sender = TestSender()
        sender.answer(to: "old", OutboxResult(status: 302, retryAfter: nil, attempts: 1))
        sender.answer(to: "older", OutboxResult(status: 308, retryAfter: nil, attempts: 1))
        for path in ["old", "older", "old", "a", "b"] { try await outbox.enqueue(request(path)) }
        let events = Events()
        let left = try await outbox.flush(sender: sender, coordinator: network.coordinator, report: events.add)
        #expect(sender.bodies == ["old", "older", "a", "b"])
        #expect(left == 3 && events.texts.last == "https://one.example 1 behind 2")
        // A refusal of the credentials delays all requests behind it.
        sender.answer(to: "old", OutboxResult(status: 401, retryAfter: nil, attempts: 1))
        try await outbox.enqueue(request("c"))
        try await outbox.flush(sender: sender, coordinator: network.coordinator)
        #expect(sender.bodies.suffix(1) == ["old"])
    }

    @Test func `while a URL redirects, new requests to its origin are sent`() async throws {
        let outbox = try await file.open(options)
        let sender = TestSender()
        sender.answer(to: "old", OutboxResult(status: 302, retryAfter: nil, attempts: 1))
        try await outbox.enqueue(OutboxRequest("POST", "https://one.example/old", body: Array("old".utf8)))
        let (network, clock) = (network, clock)
        try await outbox.running(sender, network.coordinator) {
            await sender.untilSent(1)
            for name in ["a", "b"] {
                try await outbox.enqueue(OutboxRequest("POST", "https://one.example/\(name)", body: Array(name.utf8)))
            }
            while !sender.bodies.contains("b"), !Task.isCancelled {
                clock.advance(by: .seconds(1))
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        #expect(try await outbox.entries().map(\.id) == [1])
    }

    @Test(arguments: [10 * 365 * 86_400, -10 * 365 * 86_400, 7200])
    func `no request expires and no dedupe key is lost when the clock is changed`(seconds: Int) async throws {
        let step = Locked(Duration.zero)
        var options = options
        options.realTime = { [clock] in clock.time + step.withLock(\.self) + .seconds(20 * 365 * 86_400) }
        let outbox = try await file.open(options)
        try await outbox.enqueue(.named("a"), expiry: .seconds(3600))
        try await outbox.enqueue(.named("b"), dedupeKey: "b", expiry: .seconds(3600))
        try await outbox.flush(sender: TestSender(.retry(after: nil)), coordinator: network.coordinator)
        step.withLock { $0 = .seconds(seconds) }
        #expect(try await outbox.entries().count == 2)
        clock.advance(by: .seconds(3000))
        let events = Events()
        try await outbox.flush(sender: TestSender(), coordinator: network.coordinator, report: events.add)
        #expect(events.texts == ["delivered", "delivered"])
        #expect(try await outbox.enqueue(.named("b"), dedupeKey: "b") == .delivered)
        // Elapsed time still counts.
        try await outbox.enqueue(.named("c"), expiry: .seconds(3600))
        clock.advance(by: .seconds(3601))
        try await outbox.flush(sender: TestSender(), coordinator: network.coordinator, report: events.add)
        #expect(events.texts.last == "expired")
    }

    @Test func `the time between two boots does not count`() {
        let last = ClockReading(boot: "a", bootTime: .seconds(500), realTime: .seconds(1_000_000))
        let years = Duration.seconds(10 * 365 * 86_400)
        let next = ClockReading(boot: "b", bootTime: .seconds(60), realTime: .seconds(1_000_000) + years)
        #expect(next.passed(since: last) == .seconds(60) && next.step(since: last) == years - .seconds(60))
        let later = ClockReading(boot: "a", bootTime: .seconds(700), realTime: .seconds(1_000_200))
        #expect(later.passed(since: last) == .seconds(200) && later.step(since: last) == .zero)
    }
}
