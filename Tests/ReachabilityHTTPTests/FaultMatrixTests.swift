import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Netlink
import NetworkLab
import TestSupport
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// A thousand random schedules of faults, reproducible by seed, with async-http-client and a real server.
@Suite(.timeLimit(.minutes(15))) struct FaultMatrixTests {
    private static let schedules = 1000

    /// One request and its faults.
    private struct Schedule: Sendable {
        let seed: UInt64
        let faults: [Fault]
        let method: HTTPMethod
        let key: String?
        /// The duration of a network outage; nil without an outage.
        let outage: Duration?
        let deadline: Duration

        var id: String { "request-\(seed)" }
        var isRepeatable: Bool { method != .POST || key != nil }

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            self.seed = seed
            let kinds: [Fault] = [
                .answer(200), .answer(200), .answer(404), .answer(408), .answer(425), .answer(429, retryAfter: "1"),
                .answer(500), .answer(502), .answer(503), .answer(503, retryAfter: "120"), .answer(504),
                .body(100_000, status: 503), .resetBeforeHead, .resetAfterBody, .closeAfterBody, .resetMidBody, .hang,
                .slow(5), .garbage, .refuse, .refuse, .noName,
            ]
            faults = (0..<20).map { _ in kinds[Int.random(in: 0..<kinds.count, using: &random)] }
            method = [HTTPMethod.GET, .POST, .POST, .PUT][Int.random(in: 0..<4, using: &random)]
            key = Int.random(in: 0..<3, using: &random) == 0 ? "key-\(seed)" : nil
            outage =
                Int.random(in: 0..<4, using: &random) == 0 ? .milliseconds(Int.random(in: 1...30, using: &random)) : nil
            deadline = .milliseconds(Int.random(in: 1000...4000, using: &random))
        }
    }

    /// The result of a request.
    private struct End: Sendable {
        let attempts: [RetryAttempt]
        let status: Int?
        let ending: RetryError.Ending?
        let elapsed: Duration
    }

    @Test func `a thousand random schedules of faults each end correctly`() async throws {
        let server = try ScriptedServer.faults()
        var configuration = HTTPLab.configuration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let ends = try await withClient(configuration) { client in
            try await withThrowingTaskGroup(of: (UInt64, End).self) { group in
                var ends: [UInt64: End] = [:]
                for seed in 0..<UInt64(Self.schedules) {
                    if seed >= 16, let (seed, end) = try await group.next() { ends[seed] = end }
                    group.addTask { (seed, try await Self.play(Schedule(seed: seed), client, server)) }
                }
                for try await (seed, end) in group { ends[seed] = end }
                return ends
            }
        }
        #expect(ends.count == Self.schedules)
        var quorum: [String: Int] = [:]
        let effects = Dictionary(grouping: server.received.filter(\.isComplete), by: \.id)
        for (seed, end) in ends {
            let schedule = Schedule(seed: seed)
            check(end, of: schedule, effects[schedule.id] ?? [])
            quorum[end.ending?.rawValue ?? "answered", default: 0] += 1
        }
        print("endings of a thousand schedules:", quorum.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
        try await waitUntil { server.connections == server.closed }
        server.stop()
    }

    private static func play(
        _ schedule: Schedule,
        _ client: RetryingHTTPClient,
        _ server: ScriptedServer
    ) async throws -> End {
        let reachability = PlayedNetwork()
        let lab = HTTPLab(reachability: reachability, seed: schedule.seed)
        let options = lab.options(schedule.faults, id: schedule.id, timeout: .milliseconds(400))
        let policy = try lab.policy(deadline: schedule.deadline)
        let begin = ContinuousClock.now
        return try await withThrowingTaskGroup(of: Void.self) { group in
            if let outage = schedule.outage {
                reachability.set(reachable: false)
                group.addTask {
                    try await Task.sleep(for: outage)
                    reachability.set(reachable: true)
                }
            }
            let body = schedule.method == .GET ? nil : "the body"
            var headers = HTTPHeaders()
            if let key = schedule.key { headers.add(name: "Idempotency-Key", value: key) }
            let end: End
            do throws(RetryError) {
                let (status, attempts) = try await send(schedule, body, headers, client, server.url(), policy, options)
                end = End(attempts: attempts, status: status, ending: nil, elapsed: .now - begin)
            } catch {
                end = End(attempts: error.attempts, status: nil, ending: error.ending, elapsed: .now - begin)
            }
            #expect(lab.coordinator.waitingCount(for: "127.0.0.1") == 0)
            try await group.waitForAll()
            return end
        }
    }

    private static func send(
        _ schedule: Schedule,
        _ body: String?,
        _ headers: HTTPHeaders,
        _ client: RetryingHTTPClient,
        _ url: String,
        _ policy: RetryPolicy,
        _ options: RequestRetryOptions
    ) async throws(RetryError) -> (Int, [RetryAttempt]) {
        var request = HTTPClientRequest(url: url)
        request.method = schedule.method
        request.headers = headers
        request.body = body.map { .bytes(ByteBuffer(string: $0)) }
        let outcome = try await client.execute(request, retry: policy, options: options) { response in
            _ = try await response.body.collect(upTo: 1 << 20)
            return Int(response.status.code)
        }
        return (outcome.value, outcome.attempts)
    }

    private func check(_ end: End, of schedule: Schedule, _ processed: [ReceivedRequest]) {
        let comment = Comment("seed \(schedule.seed): \(end.ending?.rawValue ?? "answered")")
        // A request that the server did not process according to its status does not count.
        let untouched: Set = [408, 425, 429]
        let effects = processed.filter { sight in
            switch Fault(sight["X-Fault"] ?? "") {
            case .answer(503, retryAfter: _?): false
            case .answer(let status, _), .body(_, let status): !untouched.contains(status)
            default: true
            }
        }
        if !schedule.isRepeatable { #expect(effects.count <= 1, comment) }
        #expect(processed.count <= end.attempts.count, comment)
        // The current attempt is cancelled at the deadline. The duration of the cancellation depends on the machine.
        #expect(end.attempts.allSatisfy { $0.began <= schedule.deadline }, comment)
        // An attempt that waited for a path was not made.
        let made = end.attempts.filter { ($0.error as? AttemptError)?.isCut != true }
        for (attempt, fault) in zip(made, schedule.faults) where attempt.error != nil {
            #expect(Self.fits(attempt, fault), "\(comment): \(fault) was \(String(describing: attempt.error))")
        }
        if let status = end.status, end.attempts.last?.error == nil {
            #expect([200, 404].contains(status), comment)
        }
        switch end.ending {
        case .unsafeToRepeat:
            // The request may have been processed, or the body of its response was incomplete at the deadline.
            #expect(!schedule.isRepeatable && end.attempts.last?.stage?.wasSent == true, comment)
        case .attemptsExhausted: #expect(end.attempts.filter { $0.stage?.wasSent == true }.count == 3, comment)
        case .deadlineExpired: #expect(end.elapsed >= schedule.deadline, comment)
        case nil: break
        default: Issue.record(comment)
        }
    }

    /// Returns whether the stage of an attempt fits its fault.
    private static func fits(_ attempt: RetryAttempt, _ fault: Fault) -> Bool {
        // The attempt was ended by the deadline, or by its timeout on a busy machine.
        if attempt.error is CancellationError { return attempt.stage == nil }
        if case .unsent? = attempt.error as? AttemptError { return attempt.stage == .neverSent }
        if let error = attempt.error as? HTTPClientError {
            if error == .deadlineExceeded { return attempt.stage == .mayHaveBeenProcessed }
            if [.connectTimeout, .getConnectionFromPoolTimeout].contains(error) { return attempt.stage == .neverSent }
        }
        switch fault {
        case .answer(let status, let wait):
            let seconds = wait.flatMap { Int($0) }.map { Duration.seconds($0) }
            return attempt.stage == .answered(status: status, retryAfter: seconds)
        case .body(_, let status): return attempt.stage == .answered(status: status)
        case .refuse, .noName: return attempt.stage == .neverSent
        case .slow: return false
        default: return attempt.stage == .mayHaveBeenProcessed
        }
    }
}
