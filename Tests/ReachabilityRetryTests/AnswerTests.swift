import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// The monitor's reachability and the evidence of attempts: unresolved names, and responses of servers.
@Suite struct AnswerTests {
    private let world = VirtualWorld()
    private let network = PlayedNetwork()
    private let statistics = Locked(RetryStatistics())

    private static let unresolved = SocketFailure(errorNumber: 101, during: .resolving)

    private struct End {
        var ending: RetryError.Ending?
        var attempts: [RetryAttempt]
        var begun: [Duration]
    }

    /// Runs a request that fails with the error of each attempt; nil is a success.
    private func retry(
        _ method: RequestMethod = .get,
        policy: RetryPolicy = .standard,
        probeInterval: Duration? = nil,
        meanwhile: @escaping @Sendable () async -> Void = {},
        failing error: @escaping @Sendable (_ attempt: Int) -> (any Error)?
    ) throws -> End {
        let limits = try RetryLimits(probeInterval: probeInterval)
        let coordinator = world.coordinator(network, limits, seed: 14)
        defer { statistics.withLock { $0 = coordinator.statistics } }
        let target = try RetryTarget(host: "example.org", method: method)
        let begun = RecordingListener<Duration>()
        let result = world.result(meanwhile: meanwhile) { [world] () throws(RetryError) in
            try await withRetry(policy: policy, target: target, coordinator: coordinator, clock: world) {
                begun.record(world.time)
                if let error = error($0) { try await fail(with: error) }
            }
        }
        let attempts = (try? result.get())?.attempts ?? result.failure?.attempts ?? []
        return End(ending: result.failure?.ending, attempts: attempts, begun: begun.values)
    }

    @Test func `an unresolved name is retried with the backoff up to the maximum`() throws {
        network.set(.notReachable, because: .nameNotResolved)
        let policy = try RetryPolicy(attempts: 3, attemptsAfterSending: 3)
        let end = try retry(policy: policy) { _ in Self.unresolved }
        #expect(end.ending == .attemptsExhausted && end.begun.count == 3)
        #expect(end.attempts.map(\.reason) == [.backoff, .backoff, nil])
        #expect(world.time <= .milliseconds(1500))
    }

    @Test func `a request to an unresolved name ends within seconds by default`() throws {
        network.set(.notReachable, because: .nameNotResolved)
        let end = try retry { _ in Self.unresolved }
        #expect(end.ending == .attemptsExhausted && end.begun.count == 3)
        #expect(world.time <= .milliseconds(1500))
    }

    @Test func `the retry starts immediately when the name is resolved`() throws {
        network.set(.notReachable, because: .nameNotResolved)
        let slow = try Backoff(base: .seconds(200), factor: 1, cap: .seconds(200))
        let policy = try RetryPolicy(backoff: slow)
        let end = try retry(policy: policy) { [world, network] in
            try? await world.sleep(for: .milliseconds(900))
            network.set(reachable: true)
        } failing: { [network] _ in
            network.isReachable ? nil : Self.unresolved
        }
        #expect(end.ending == nil && end.begun.count == 2)
        #expect(end.begun[1] >= .milliseconds(900) && end.begun[1] <= .milliseconds(920))
    }

    @Test(arguments: ["noCarrier", "noRoute", "linkDown", "noSourceAddress"])
    func `an offline request waits for the network and then for the name`(
        reason: String
    ) throws {
        network.set(.notReachable, because: HostReachability.Reason(rawValue: reason))
        let end = try retry(policy: RetryPolicy(attemptsUnresolved: 6)) { [world, network] in
            try? await world.sleep(for: .seconds(120))
            // The network is back before the name is resolved.
            network.set(.notReachable, because: .nameNotResolved)
            try? await world.sleep(for: .seconds(1))
            network.set(reachable: true)
        } failing: { [network] _ in
            network.isReachable ? nil : Self.unresolved
        }
        #expect(end.ending == nil && end.attempts[0].reason == .unreachable)
        #expect(end.begun[1] >= .seconds(120) && end.begun[1] <= .milliseconds(120_020))
        #expect(try #require(end.begun.last) <= .milliseconds(121_020))
    }

    @Test(arguments: [408, 429, 500, 503])
    func `a server that responds counts as reachable, whatever the monitor reports`(status: Int) throws {
        network.set(reachable: false)
        let end = try retry { $0 < 3 ? StatusFailure(status: status) : nil }
        #expect(end.ending == nil && end.begun.count == 3)
        #expect(end.attempts.map(\.reason) == [.backoff, .backoff, nil])
        #expect(world.time <= .milliseconds(1520))
    }

    @Test func `Retry-After is observed although the monitor reports not reachable`() throws {
        network.set(reachable: false)
        let end = try retry(.post) { $0 == 1 ? StatusFailure(status: 503, retryAfter: .seconds(7)) : nil }
        #expect(end.ending == nil && end.begun == [.zero, .seconds(7)])
    }

    @Test func `the monitor has priority again after a network failure or a new loss`() throws {
        network.set(reachable: false)
        let end = try retry { [world, network] in
            try? await world.sleep(for: .seconds(40))
            network.set(reachable: true)
        } failing: {
            switch $0 {
            case 1: StatusFailure(status: 503)
            case 2: Self.unresolved
            default: nil
            }
        }
        #expect(end.attempts.map(\.reason) == [.backoff, .unreachable, nil])
        #expect(end.begun[2] >= .seconds(40) && end.begun[2] <= .milliseconds(40_020))

        // The response came over the previous path.
        let lost = try retry { [world, network] in
            try? await world.sleep(for: .seconds(40))
            network.set(reachable: true)
        } failing: { [network] in
            switch $0 {
            case 1: return Self.unresolved
            case 2:
                network.set(reachable: false)
                return StatusFailure(status: 503)
            default: return nil
            }
        }
        #expect(lost.attempts.map(\.reason) == [.backoff, .backoff, nil])
        #expect(lost.begun[2] - lost.begun[0] >= .seconds(40))
    }

    @Test func `a long wait for the network is probed at doubling intervals until a response arrives`()
        throws
    {
        network.set(reachable: false)
        let end = try retry(probeInterval: .seconds(30)) { $0 < 4 ? Self.unresolved : nil }
        #expect(end.ending == nil && end.begun == [.zero, .seconds(30), .seconds(90), .seconds(210)])
        #expect(end.attempts.map(\.reason) == [.unreachable, .unreachable, .unreachable, nil])
        let counted = statistics.withLock { $0 }
        #expect(counted.probes == 3 && counted.disagreements == 1 && counted.attempts == 4 && counted.successes == 1)
    }

    @Test func `without probes no attempt is made before the network is back`() throws {
        network.set(reachable: false)
        let end = try retry(
            policy: RetryPolicy(deadline: .seconds(200_000)),
            probeInterval: nil,
            meanwhile: { [world, network] in
                try? await world.sleep(for: .seconds(86_400))
                network.set(reachable: true)
            },
            failing: { $0 == 1 ? Self.unresolved : nil }
        )
        #expect(end.ending == nil && end.begun.count == 2 && end.begun[0] == .zero)
        #expect(end.begun[1] >= .seconds(86_400) && end.begun[1] < .seconds(86_401))
        let counted = statistics.withLock { $0 }
        #expect(counted.probes == 0 && counted.attempts == 2)
    }

    @Test func `503 may have been processed unless it has Retry-After`() throws {
        let bare = try retry(.post) { $0 == 1 ? StatusFailure(status: 503) : nil }
        #expect(bare.ending == .unsafeToRepeat && bare.begun.count == 1)
        let asked = try retry(.post) { $0 == 1 ? StatusFailure(status: 503, retryAfter: .zero) : nil }
        #expect(asked.ending == nil && asked.begun.count == 2)
        #expect(try retry(.put) { $0 == 1 ? StatusFailure(status: 503) : nil }.ending == nil)
        for status in [408, 425, 429] {
            #expect(try retry(.patch) { $0 == 1 ? StatusFailure(status: status) : nil }.ending == nil)
        }
    }

    @Test(arguments: [111, 104, 113] as [Int32])
    func `a POST is not repeated after its connection in use failed`(number: Int32) throws {
        let end = try retry(.post) { $0 == 1 ? SocketFailure(errorNumber: number, during: .exchanging) : nil }
        #expect(end.ending == .unsafeToRepeat && end.begun.count == 1)
    }
}
