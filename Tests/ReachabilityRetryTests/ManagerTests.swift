import KernelLab
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// Retries with real managers and a fake kernel, in real time.
@Suite struct ManagerTests {
    private let kernel = FakeKernel()

    private func plugIn() {
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        kernel.addRoute("default", via: "192.0.2.1")
    }

    private func makeCoordinator() -> RetryCoordinator {
        let reachability = NetlinkReachabilityProvider { [kernel] host in
            host.flatMap(IPAddress.init).flatMap { try? NetworkReachabilityManager(address: $0, kernel: kernel) }
        }
        return RetryCoordinator(reachability: reachability, random: SeededGenerator(seed: 9))
    }

    @Test func `the retry waits for the carrier and not for a timer`() async throws {
        plugIn()
        kernel.setCarrier("eth0", false)
        let coordinator = makeCoordinator()
        let target = try RetryTarget(host: "198.51.100.1", method: .post)
        let begun = RecordingListener<Int>()
        async let outcome = withRetry(target: target, coordinator: coordinator) { number in
            begun.record(number)
            if number == 1 { throw SocketFailure(errorNumber: 101, during: .connecting) }
        }
        while coordinator.waitingCount(for: "198.51.100.1") == 0 { await Task.yield() }
        #expect(begun.values == [1])
        kernel.setCarrier("eth0", true)
        let attempts = try await outcome.attempts
        #expect(attempts.map(\.reason) == [.unreachable, nil])
        #expect(attempts[0].reachability?.reason?.rawValue == "noCarrier")
        #expect(attempts[0].reachability?.description == "not reachable, no carrier")
        #expect(begun.values == [1, 2])
    }

    @Test func `an address change ends the backoff`() async throws {
        plugIn()
        let coordinator = makeCoordinator()
        let slow = try Backoff(base: .seconds(3000), factor: 1, cap: .seconds(3000))
        let policy = try RetryPolicy(deadline: .seconds(6000), backoff: slow)
        let target = try RetryTarget(host: "198.51.100.1", method: .get)
        async let outcome = withRetry(policy: policy, target: target, coordinator: coordinator) { number in
            if number == 1 { throw SocketFailure(errorNumber: 111, during: .connecting) }
        }
        while coordinator.waitingCount(for: "198.51.100.1") == 0 { await Task.yield() }
        while coordinator.knownReachability(of: "198.51.100.1")?.status != .reachable { await Task.yield() }
        kernel.removeRoute("default")
        kernel.addRoute("default", via: "192.0.2.9")
        #expect(try await outcome.attempts.map(\.reason) == [.backoff, nil])
    }

    @Test func `repeated queries of an address use one manager and return the current state`() {
        plugIn()
        let made = Locked(0)
        let reachability = NetlinkReachabilityProvider { [kernel] host in
            made.withLock { $0 += 1 }
            return host.flatMap(IPAddress.init).flatMap { try? NetworkReachabilityManager(address: $0, kernel: kernel) }
        }
        #expect(reachability.reachability(of: "198.51.100.1").status == .reachable)
        kernel.removeRoute("default")
        #expect(reachability.reachability(of: "198.51.100.1").status == .notReachable)
        kernel.addRoute("default", via: "192.0.2.1")
        #expect(reachability.reachability(of: "198.51.100.1").status == .reachable)
        #expect(made.withLock { $0 } == 1)
    }

    @Test func `unassigned addresses belong to prefixes with the route of the network at large`() {
        let reachability = NetlinkReachabilityProvider { [kernel] host in
            guard let host else { return try? NetworkReachabilityManager(kernel: kernel) }
            return IPAddress(host).flatMap { try? NetworkReachabilityManager(address: $0, kernel: kernel) }
        }
        #expect(reachability.unassignedAddresses() == [])
        plugIn()
        #expect(reachability.unassignedAddresses() == ["198.51.100.1"], "192.0.2.0/24 is used in this network")
        kernel.addRoute("198.51.100.0/24", via: "192.0.2.1")
        kernel.addAddress("2001:db8::7/64", to: "eth0")
        kernel.addRoute("::/0", via: "2001:db8::1")
        #expect(reachability.unassignedAddresses() == ["203.0.113.1", "3fff::1"])
    }

    @Test func `the kernel is not queried again while nothing changes`() async {
        plugIn()
        let reachability = NetlinkReachabilityProvider { [kernel] host in
            host.flatMap(IPAddress.init).flatMap { try? NetworkReachabilityManager(address: $0, kernel: kernel) }
        }
        for round in 0..<3 {
            // From the second query on, the monitor follows the address. Its own evaluations finish first.
            var count = -1
            while kernel.questionCount != count {
                count = kernel.questionCount
                // The evaluation after a change waits for a timer.
                await kernel.clock.advance(by: .milliseconds(300))
                _ = reachability.reachability(of: "198.51.100.1")
            }
            for _ in 0..<100 { #expect(reachability.reachability(of: "198.51.100.1").status == .reachable) }
            #expect(kernel.questionCount == count, "\(round)")
            kernel.setCarrier("eth0", false)
            #expect(reachability.reachability(of: "198.51.100.1").status == .notReachable)
            kernel.setCarrier("eth0", true)
            #expect(reachability.reachability(of: "198.51.100.1").status == .reachable)
        }
    }

    @Test func `without a manager the retry waits for the backoff`() async throws {
        let coordinator = RetryCoordinator(reachability: NetlinkReachabilityProvider { _ in nil })
        let quick = try Backoff(base: .milliseconds(1))
        let policy = try RetryPolicy(backoff: quick)
        let outcome = try await withRetry(
            policy: policy,
            target: .network(isRepeatable: true),
            coordinator: coordinator
        ) { number in
            if number == 1 { throw SocketFailure(errorNumber: 104, during: .exchanging) }
            return number
        }
        #expect(outcome.value == 2 && outcome.attempts[0].reachability?.status == .unknown)
    }
}
