import Netlink
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// Network losses of 1 to 60 s: the time from the return of the network to the first success, compared with Alamofire's
/// delays.
@Suite struct SimulationTests {
    private static let unreachable = SocketFailure(errorNumber: 101, during: .connecting)

    /// Returns the time from the return of the network to the first success, and the number of attempts while offline.
    private func ours(offline: Duration, seed: UInt64) throws -> (delay: Duration, attempts: Int) {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let coordinator = world.coordinator(network, seed: seed)
        let target = try RetryTarget(host: "example.org", method: .get)
        network.set(reachable: false)
        let attempts = RecordingListener<Bool>()
        world.run {
            await withTaskGroup { group in
                group.addTask {
                    _ = try? await withRetry(target: target, coordinator: coordinator, clock: world) { _ in
                        attempts.record(network.isReachable)
                        if !network.isReachable { try await fail(with: Self.unreachable) }
                    }
                }
                try? await world.sleep(for: offline)
                network.set(reachable: true)
            }
        }
        return (world.time - offline, attempts.values.filter { !$0 }.count)
    }

    /// Returns the computed delay of Alamofire after an outage, with unlimited retries. With its default limit of 2 retries, the request would
    /// have ended after 1.5 s.
    private static func theirs(offline: Duration) throws -> Duration {
        let backoff = try Backoff(cap: .seconds(86_400), isJittered: false)
        var (time, retry) = (Duration.zero, 0)
        while time < offline {
            retry += 1
            time += backoff.longestWait(beforeRetry: retry)
        }
        return time - offline
    }

    @Test func `the first success follows the return of the network within milliseconds`() throws {
        var random = SeededGenerator(seed: 7)
        var delays: [Duration] = []
        var theirs: [Duration] = []
        for seed in 0..<300 {
            let offline = Duration.milliseconds(Int.random(in: 1000...60_000, using: &random))
            let (delay, attempts) = try ours(offline: offline, seed: UInt64(seed))
            #expect(attempts == 1)
            delays.append(delay)
            theirs.append(try Self.theirs(offline: offline))
        }
        let median = delays.sorted()[delays.count / 2]
        let theirMedian = theirs.sorted()[theirs.count / 2]
        print(
            "first success after the return, median of 300: \(median), Alamofire's arithmetic without its limit: \(theirMedian),",
            "\(Int(theirMedian / median)) times"
        )
        #expect(median < .milliseconds(50))
        #expect(theirMedian / median >= 20)
    }
}
