import Glibc
import NetworkLab
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityRetry
import TestSupport
import Testing

/// Retries with the kernel's reachability and real packets, over a cable that is unplugged and plugged in.
@Suite(.serialized) struct CableTests {
    private static let host = "203.0.113.7"

    /// Returns a client that is connected to a router. The cable is unplugged at the router.
    private static func makeLab() async throws -> Topology {
        try await LabThread.detached {
            let lab = try Topology()
            // A permanent neighbour entry, so that resolving the hardware address is not part of the delay.
            try lab.client.ip("neigh replace 10.1.0.1 lladdr 02:00:00:00:01:01 dev c0 nud permanent")
            return lab
        }
    }

    private static func plug(_ lab: Topology, _ isIn: Bool) async throws {
        try await LabThread.detached { try lab.router.ip("link set r0 \(isIn ? "up" : "down")") }
    }

    private static func makeCoordinator(_ lab: Topology, rate: Double = 100) throws -> RetryCoordinator {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(lab.client.path)
        return RetryCoordinator(
            limits: try RetryLimits(rate: rate),
            reachability: NetlinkReachabilityProvider(options: options),
            random: SeededGenerator(seed: 10)
        )
    }

    @Test func `the first success follows the first echoed packet closely`() async throws {
        let lab = try await Self.makeLab()
        defer { lab.close() }
        let coordinator = try Self.makeCoordinator(lab)
        let flow = try EchoFlow(in: lab.client, to: Self.host)
        let target = try RetryTarget(host: Self.host, method: .post)
        var random = SeededGenerator(seed: 11)
        var delays: [Duration] = []
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(lab.client.path)
        let manager = try NetworkReachabilityManager(host: Self.host, options: options)
        for round in 0..<10 {
            try await Self.plug(lab, false)
            // The kernel reports the loss of carrier after up to a second. Before that an attempt would be wasted.
            #expect(try await eventually { await manager.currentPath().status == .notReachable })
            let begun = RecordingListener<ContinuousClock.Instant>()
            async let outcome = withRetry(target: target, coordinator: coordinator) { _ in
                begun.record(.now)
                return try await Self.exchange(lab)
            }
            #expect(try await eventually { coordinator.waitingCount(for: Self.host) == 1 })
            try await Task.sleep(for: .milliseconds(Int.random(in: 1000...3000, using: &random)))
            async let flowing = LabThread.detached { try flow.untilEchoed(UInt32(round)) }
            let order = ContinuousClock.now
            try await Self.plug(lab, true)
            let (first, success) = (try await flowing, try await outcome)
            delays.append(max(.zero, success.value - first))
            #expect(success.attempts.first?.reason == .unreachable)
            // No attempt except the first while the cable was unplugged.
            #expect(begun.values.dropFirst().allSatisfy { $0 >= order })
        }
        let median = delays.sorted()[delays.count / 2]
        let theirs = try AlamofireArithmetic.median(of: 300, seed: 7)
        print(
            "first success after packets flow, median of \(delays.count): \(median), longest \(delays.max() ?? .zero);",
            "Alamofire's arithmetic: \(theirs), \(Int(theirs / max(median, .microseconds(1)))) times"
        )
    }

    /// Connects by TCP, and exchanges a datagram. Returns the time when it was done.
    private static func exchange(_ lab: Topology) async throws -> ContinuousClock.Instant {
        let answers = try await LabThread.detached {
            try lab.oracle.answers(of: [host], silence: .milliseconds(100))
        }
        guard answers[host]?.isReachable == true else {
            throw SocketFailure(errorNumber: ETIMEDOUT, during: .connecting)
        }
        return .now
    }

    @Test func `ten thousand requests that wait for the cable are all sent, only online and within the rate`()
        async throws
    {
        let (count, rate) = (10_000, 1000.0)
        let lab = try await Self.makeLab()
        defer { lab.close() }
        // Every attempt fails immediately, so no timeout is needed.
        try lab.client.sysctl("net.ipv4.conf.c0.ignore_routes_with_linkdown", "1")
        let coordinator = try Self.makeCoordinator(lab, rate: rate)
        let flow = try EchoFlow(in: lab.client, to: Self.host)
        let target = try RetryTarget(host: Self.host, method: .post)
        // Each request queries the kernel, which takes long on a busy machine.
        let policy = try RetryPolicy(deadline: .seconds(3600))
        let limit = Duration.seconds(900)
        try await Self.plug(lab, false)
        // The kernel notices it after up to a second.
        #expect(try await eventually { flow.send(.max) != 0 })
        let failed = RecordingListener<Int>()
        let sent = RecordingListener<ContinuousClock.Instant>()
        let echoed = try await withThrowingTaskGroup(of: Void.self) { group in
            for request in 0..<count {
                group.addTask {
                    _ = try await withRetry(policy: policy, target: target, coordinator: coordinator) { number in
                        let error = flow.send(UInt32(request))
                        guard error == 0 else {
                            failed.record(number)
                            throw SocketFailure(errorNumber: error, during: .connecting)
                        }
                        sent.record(.now)
                    }
                }
            }
            #expect(try await eventually(within: limit) { coordinator.waitingCount(for: Self.host) == count })
            async let numbers = LabThread.detached { Self.numbers(from: flow, until: count) }
            try await Self.plug(lab, true)
            try await group.waitForAll()
            return try await numbers
        }
        #expect(failed.values == [Int](repeating: 1, count: count))
        #expect(sent.count == count)
        #expect(echoed.count == count)
        let times = sent.values.sorted()
        // Any `rate` consecutive retries take at least a second.
        let shortest = zip(times, times.dropFirst(Int(rate))).map { $1 - $0 }.min() ?? .zero
        print("10,000 in \(times[count - 1] - times[0]), the fastest \(Int(rate)) in \(shortest)")
        #expect(shortest >= .milliseconds(980))
    }

    /// Returns the numbers that were echoed, until all have arrived or no more arrive.
    private static func numbers(from flow: EchoFlow, until count: Int) -> Set<UInt32> {
        var numbers: Set<UInt32> = []
        while numbers.count < count, let number = flow.receive(within: .seconds(30)) {
            if number < count { numbers.insert(number) }
        }
        return numbers
    }
}
