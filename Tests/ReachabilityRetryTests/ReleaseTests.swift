import LinuxSupport
import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// Many requests that wait for the same host.
@Suite struct ReleaseTests {
    private static let unreachable = SocketFailure(errorNumber: 113, during: .connecting)

    @Test func `ten thousand waiting requests are released at the rate, none lost and none early`() throws {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let limits = try RetryLimits(rate: 1000)
        let coordinator = world.coordinator(network, limits, seed: 2)
        let target = try RetryTarget(host: "example.org", method: .post)
        network.set(reachable: false)
        let retries = RecordingListener<(request: Int, time: Duration)>()
        let offline = RecordingListener<Int>()
        let count = 10_000
        let ended = world.run {
            await withTaskGroup(of: Bool.self) { group in
                for request in 0..<count {
                    group.addTask {
                        await world.ending(target, coordinator) { number in
                            if !network.isReachable { offline.record(request) }
                            guard number > 1 else { try await fail(with: Self.unreachable) }
                            retries.record((request, world.time))
                        } == nil
                    }
                }
                try? await world.sleep(for: .seconds(60))
                #expect(coordinator.waitingCount(for: "example.org") == count)
                #expect(network.watchCount == 1)
                network.set(reachable: true)
                var ended = 0
                for await isDone in group where isDone { ended += 1 }
                return ended
            }
        }
        #expect(ended == count)
        #expect(offline.count == count)
        let times = retries.values.map(\.time)
        #expect(times.count == count)
        // The request that failed first is retried first.
        #expect(retries.values.map(\.request) == offline.values)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(1) })
        #expect(times[0] >= .seconds(60) && times[0] <= .milliseconds(60_020))
        #expect(times[count - 1] <= .milliseconds(70_020))
        #expect(coordinator.remainingBudget(for: "example.org") == 500)
        #expect(network.watchCount == 0)
    }

    @Test func `the queue stops when the network is lost, and continues when it returns`() throws {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let coordinator = world.coordinator(network, try RetryLimits(rate: 10), seed: 3)
        network.set(reachable: false)
        let retries = RecordingListener<Duration>()
        let done = world.run {
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        await world.ending(.network(isRepeatable: false), coordinator) { number in
                            guard number > 1 else { try await fail(with: Self.unreachable) }
                            #expect(network.isReachable)
                            retries.record(world.time)
                        } == nil
                    }
                }
                for _ in 0..<10 {
                    try? await world.sleep(for: .seconds(5))
                    network.set(reachable: true)
                    try? await world.sleep(for: .milliseconds(1500))
                    network.set(reachable: false)
                }
                network.set(reachable: true)
                return await group.reduce(true) { $0 && $1 }
            }
        }
        #expect(done && retries.count == 100)
    }

    @Test func `higher priorities start first, and cancelled requests leave no gap`() throws {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let coordinator = world.coordinator(network, try RetryLimits(rate: 1, spread: .zero), seed: 4)
        network.set(reachable: false)
        let retries = RecordingListener<String>()
        world.run {
            await withTaskGroup { group in
                let names: [(String, RetryPriority)] = [
                    ("low", .low), ("one", .normal), ("gone", .normal), ("two", .normal), ("high", .high),
                ]
                for (name, priority) in names {
                    group.addTask {
                        await withTaskGroup { inner in
                            inner.addTask {
                                let target = RetryTarget.network(isRepeatable: true, priority: priority)
                                _ = try? await withRetry(target: target, coordinator: coordinator, clock: world) {
                                    number in
                                    guard number > 1 else { try await fail(with: Self.unreachable) }
                                    retries.record(name)
                                }
                            }
                            if name == "gone" {
                                try? await world.sleep(for: .seconds(1))
                                inner.cancelAll()
                            }
                        }
                    }
                }
                try? await world.sleep(for: .seconds(2))
                network.set(reachable: true)
            }
        }
        #expect(retries.values == ["high", "one", "two", "low"])
        #expect(world.time == .seconds(5))
    }

    @Test func `the budget ends the retries to a failing host, and successes restore it`() throws {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let limits = try RetryLimits(budget: RetryBudget(capacity: 20, retryCost: 5, successDeposit: 1))
        let coordinator = world.coordinator(network, limits, seed: 5)
        let target = try RetryTarget(host: "example.org", method: .get)
        let endings = world.run {
            var endings: [RetryError.Ending?] = []
            for _ in 0..<3 {
                endings.append(await world.ending(target, coordinator) { _ in throw StatusFailure(status: 503) })
            }
            for _ in 0..<5 {
                _ = try? await withRetry(target: target, coordinator: coordinator, clock: world) { _ in }
            }
            return endings
        }
        #expect(endings == [.attemptsExhausted, .attemptsExhausted, .budgetExhausted])
        #expect(coordinator.remainingBudget(for: "example.org") == 5)
        #expect(coordinator.remainingBudget(for: "other.example") == 20)
    }

    @Test func `a host that fails two of three attempts exhausts its budget, one in ten does not`() throws {
        func play(_ isFailure: @escaping @Sendable (_ attempt: Int) -> Bool) throws -> (refused: Int, tokens: Int) {
            let world = VirtualWorld()
            let coordinator = world.coordinator(PlayedNetwork(), seed: 12)
            let target = try RetryTarget(host: "example.org", method: .get)
            let attempts = Locked(0)
            return world.run {
                var refused = 0
                for _ in 0..<1000 {
                    let ending = await world.ending(target, coordinator) { _ in
                        let number = attempts.withLock { attempts in
                            attempts += 1
                            return attempts
                        }
                        if isFailure(number) { try await fail(with: StatusFailure(status: 500)) }
                    }
                    if ending == .budgetExhausted { refused += 1 }
                }
                return (refused, coordinator.remainingBudget(for: "example.org"))
            }
        }
        let bad = try play { !$0.isMultiple(of: 3) }
        // A request costs 5 of 500 tokens.
        #expect(bad.refused > 500 && bad.tokens < 10)
        let good = try play { $0.isMultiple(of: 10) }
        #expect(good.refused == 0 && good.tokens > 490)
    }

    @Test(arguments: [RetryError.Ending.cancelled, .deadlineExpired, .tooManyWaiting, .shutDown])
    func `the cost of a retry that is not made is returned`(ending: RetryError.Ending) throws {
        let world = VirtualWorld()
        let limits = try RetryLimits(maximumWaiting: 1)
        let coordinator = world.coordinator(PlayedNetwork(), limits, seed: 13)
        let slow = try Backoff(base: .seconds(1000), factor: 1, cap: .seconds(1000))
        let policy = try RetryPolicy(
            deadline: .seconds(ending == .deadlineExpired ? 10 : 5000),
            backoff: slow
        )
        let target = try RetryTarget(host: "example.org", method: .get)
        let endings = world.run {
            await withTaskGroup(of: RetryError.Ending?.self) { group in
                for _ in 0..<(ending == .tooManyWaiting ? 2 : 1) {
                    group.addTask {
                        await world.ending(target, coordinator, policy: policy) { _ in
                            try await fail(with: Self.unreachable)
                        }
                    }
                }
                try? await world.sleep(for: .seconds(1))
                #expect(coordinator.remainingBudget(for: "example.org") == 495)
                if ending == .shutDown { await coordinator.shutDown(.cancel) }
                if ending != .deadlineExpired { group.cancelAll() }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(endings.contains(ending))
        #expect(coordinator.remainingBudget(for: "example.org") == 500)
    }

    @Test(arguments: [RetryShutdown.drain, .cancel])
    func `a shutdown drains or cancels, and no request starts after it`(mode: RetryShutdown) throws {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let coordinator = world.coordinator(network, seed: 6)
        let target = RetryTarget.network(isRepeatable: true)
        network.set(reachable: false)
        let endings = world.run {
            await withTaskGroup(of: RetryError.Ending?.self) { group in
                for kind in 0..<2 {
                    group.addTask {
                        await world.ending(target, coordinator) { number in
                            // One request waits, another one is in an attempt.
                            if kind == 1 { return try await world.sleep(for: .seconds(100)) }
                            if number == 1 { try await fail(with: Self.unreachable) }
                        }
                    }
                }
                try? await world.sleep(for: .seconds(1))
                group.addTask {
                    try? await world.sleep(for: .seconds(1))
                    network.set(reachable: true)
                    return .cancelled
                }
                await coordinator.shutDown(mode)
                #expect(world.time == (mode == .drain ? .seconds(100) : .seconds(1)))
                do throws(RetryError) {
                    _ = try await withRetry(target: target, coordinator: coordinator, clock: world) { _ in
                        Issue.record("an attempt after the shutdown")
                    }
                } catch { #expect(error.ending == .shutDown && error.attempts.isEmpty) }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(endings.filter { $0 == .shutDown }.count == (mode == .drain ? 0 : 2))
        #expect(network.watchCount == 0)
    }
}
