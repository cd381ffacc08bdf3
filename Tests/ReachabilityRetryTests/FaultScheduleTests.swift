import LinuxSupport
import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// Random faults, reproducible by seed. Every request ends once, with a correct ending and before its deadline.
@Suite struct FaultScheduleTests {
    private enum Fault: CaseIterable {
        case none, refuse, reset, hang, tooMany, unavailable, notFound
    }

    /// The attempts of one request as the server saw them.
    private struct Sight: Sendable {
        var attempts = 0
        var processed = 0
        var offlineAttempts = 0
        /// A Boolean value that indicates whether the previous attempt received a response. It has priority over the
        /// monitor once.
        var wasAnswered = false
        var last: Duration?
    }

    private struct Draw {
        var random: SeededGenerator

        mutating func time(_ longest: Int) -> Duration { .milliseconds(Int.random(in: 0...longest, using: &random)) }
    }

    /// Ends an attempt with a fault while the network is up.
    private static func answer(_ fault: Fault, on world: VirtualWorld) async throws {
        switch fault {
        case .none: return
        case .refuse: try await fail(with: SocketFailure(errorNumber: 111, during: .connecting))
        case .reset: try await fail(with: SocketFailure(errorNumber: 104, during: .exchanging))
        case .hang: try await world.sleep(for: .seconds(100_000))
        case .tooMany: try await fail(with: StatusFailure(status: 429, retryAfter: .seconds(3)))
        case .unavailable: try await fail(with: StatusFailure(status: 503))
        case .notFound: try await fail(with: StatusFailure(status: 404))
        }
    }

    @Test func `a thousand random schedules of faults each end once with a correct ending`() throws {
        var endings: [String: Int] = [:]
        for seed in 0..<1000 {
            let ending = try play(seed: UInt64(seed))
            endings[ending, default: 0] += 1
        }
        print("endings of a thousand schedules:", endings.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
        #expect(endings.values.reduce(0, +) == 1000)
        #expect(Set(endings.keys).isSuperset(of: ["success", "deadlineExpired", "unsafeToRepeat", "notRetryable"]))
    }

    private func play(seed: UInt64) throws -> String {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let coordinator = world.coordinator(network, seed: seed)
        var draw = Draw(random: SeededGenerator(seed: seed &+ 1_000_000))
        let method = [RequestMethod.get, .post, .put].randomElement(using: &draw.random) ?? .get
        let key = Bool.random(using: &draw.random) ? "key" : nil
        let target = try RetryTarget(host: "example.org", method: method, idempotencyKey: key)
        let deadline = Duration.seconds(Int.random(in: 5...120, using: &draw.random))
        let policy = try RetryPolicy(deadline: deadline)
        let script = (0..<20).map { _ in Fault.allCases.randomElement(using: &draw.random) ?? .none }
        let changes = (0..<Int.random(in: 0...6, using: &draw.random)).map { _ in
            (after: draw.time(20_000), kind: Int.random(in: 0..<3, using: &draw.random))
        }
        let latencies = (0..<20).map { _ in draw.time(500) }
        let sight = Locked(Sight())
        let ends = RecordingListener<Result<RetryOutcome<Int>, RetryError>>()
        world.run {
            await withTaskGroup { group in
                group.addTask {
                    for change in changes {
                        try? await world.sleep(for: change.after)
                        if Task.isCancelled { return }
                        if change.kind == 0 { network.change() } else { network.set(reachable: change.kind == 1) }
                    }
                }
                do throws(RetryError) {
                    let outcome = try await withRetry(
                        policy: policy,
                        target: target,
                        coordinator: coordinator,
                        clock: world
                    ) {
                        number in
                        sight.withLock { sight in
                            sight.attempts += 1
                            if number > 1, !network.isReachable, !sight.wasAnswered { sight.offlineAttempts += 1 }
                            sight.wasAnswered = false
                        }
                        guard network.isReachable else {
                            try await fail(with: SocketFailure(errorNumber: 101, during: .connecting))
                        }
                        let fault = script[number - 1]
                        try await world.sleep(for: latencies[number - 1])
                        if ![.refuse, .tooMany, .notFound].contains(fault) {
                            sight.withLock { $0.processed += 1 }
                        }
                        if [.tooMany, .unavailable, .notFound].contains(fault) {
                            sight.withLock { $0.wasAnswered = true }
                        }
                        try await Self.answer(fault, on: world)
                        return number
                    }
                    ends.record(.success(outcome))
                } catch {
                    ends.record(.failure(error))
                }
                #expect(world.time <= deadline)
                group.cancelAll()
            }
        }
        let seen = sight.withLock { $0 }
        // Only probes are made while offline.
        #expect(ends.count == 1 && seen.offlineAttempts <= coordinator.statistics.probes, "seed \(seed)")
        #expect(network.watchCount == 0 && coordinator.waitingCount(for: "example.org") == 0)
        if !target.isRepeatable { #expect(seen.processed <= 1, "processed twice with seed \(seed)") }
        return check(ends.values[0], seen, seed)
    }

    /// Checks that the ending matches the history. Returns the name of the ending.
    private func check(_ result: Result<RetryOutcome<Int>, RetryError>, _ seen: Sight, _ seed: UInt64) -> String {
        switch result {
        case .success(let outcome):
            #expect(outcome.attempts.count == seen.attempts && outcome.attempts.last?.error == nil)
            return "success"
        case .failure(let error):
            #expect(error.attempts.count == seen.attempts, "seed \(seed)")
            let last = error.attempts.last?.stage
            switch error.ending {
            case .unsafeToRepeat: #expect(last == .mayHaveBeenProcessed || last == .answered(status: 503))
            case .notRetryable: #expect(last == .answered(status: 404))
            case .attemptsExhausted:
                let sent = error.attempts.count { $0.stage?.wasSent == true }
                let refused = error.attempts.count { ($0.error as? SocketFailure)?.connectionFailure == .refused }
                #expect(sent == 3 || refused >= 3, "seed \(seed)")
            case .deadlineExpired: #expect(error.lastError != nil)
            default: Issue.record("\(error.ending) with seed \(seed)")
            }
            return error.ending.rawValue
        }
    }
}
