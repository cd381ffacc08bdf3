import LinuxSupport
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// Features of the retry engine for HTTP clients: validation, retriers, observers, and limits of hosts.
@Suite struct EngineTests {
    private let world = VirtualWorld()
    private let network = PlayedNetwork()

    private struct Refusal: Error {}

    private func coordinator(_ limits: RetryLimits = .standard, observer: RetryObserver? = nil) -> RetryCoordinator {
        world.coordinator(network, limits, observer: observer, seed: 21)
    }

    private func failure<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(RetryError) -> Value
    ) -> RetryError? {
        world.result(body).failure
    }

    private func options(_ coordinator: RetryCoordinator) -> RequestRetryOptions {
        RequestRetryOptions(coordinator: coordinator, clock: world)
    }

    /// Returns a request whose attempts get these statuses one after the other, and that records released responses.
    private func request(
        _ statuses: [Int],
        _ options: RequestRetryOptions,
        _ method: RequestMethod = .get,
        fields: [String: String] = [:],
        release: RecordingListener<Int> = RecordingListener()
    ) -> NumberedRequest {
        let count = Locked(0)
        return NumberedRequest(
            RequestHead(method: method, url: "https://example.org/"),
            options: options,
            release: { release.record($0) },
            send: { progress in
                progress.send()
                let status = count.withLock { count in
                    defer { count += 1 }
                    return statuses[min(count, statuses.count - 1)]
                }
                return (status, ResponseHead(status: status) { fields[$0] })
            }
        )
    }

    @Test func `a refused response is an error that the retrier may retry`() throws {
        var options = options(coordinator())
        options.validate = { head in if head.status >= 400 { throw Refusal() } }
        let plain = request([401, 200], options)
        let refused = try #require(failure { () throws(RetryError) in try await plain.run() })
        #expect(
            refused.ending == .notRetryable
                && (refused.lastError as? AttemptError)?.failureStage == .answered(status: 401)
        )

        let asked = RecordingListener<FailedRequest>()
        options.retrier = Retrier { request, error, completion in
            asked.record(request)
            completion(error is Refusal && request.retryCount == 0 ? .retry : .doNotRetryWithError(RetryLimit()))
        }
        // A server that responds with 401 has done nothing, so the retrier may retry a POST.
        let (release, retried) = (RecordingListener<Int>(), options)
        let outcome = try world.result { () throws(RetryError) in
            try await request([401, 200], retried, .post, release: release).run()
        }.get()
        #expect(outcome.value == 200 && outcome.attempts.map(\.reason) == [.retrier, nil])
        #expect(asked.values.map(\.status) == [401] && release.values == [401])
        let error = try #require(failure { () throws(RetryError) in try await request([401], retried, .post).run() })
        #expect(error.lastError is RetryLimit && error.attempts.count == 2)
    }

    private struct RetryLimit: Error {}

    @Test func `retries of refused requests do not use the budget`() throws {
        var options = options(coordinator())
        options.validate = { head in if head.status >= 400 { throw Refusal() } }
        options.retrier = Retrier { request, _, completion in
            completion(request.retryCount == 0 ? .retry : .doNotRetry)
        }
        let asked = options
        let values = world.run {
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<300 { group.addTask { try? await request([401, 200], asked).run().value } }
                return await group.reduce(into: [Int?]()) { $0.append($1) }
            }
        }
        #expect(values == Array(repeating: 200, count: 300))
    }

    @Test func `the retrier is not called for a POST that may have been processed`() throws {
        let asked = RecordingListener<Int>()
        let retrier = Retrier { _, _, completion in
            asked.record(1)
            completion(.retry)
        }
        var options = options(coordinator())
        options.retrier = retrier
        let begun = RecordingListener<Int>()
        for method in [RequestMethod.post, .put] {
            let plain = RequestHead(method: method, url: "https://example.org/")
            _ = world.run { [options] in
                try? await withRetry(plain, options: options) { _ in
                    begun.record(1)
                    if begun.count < 4 { throw Refusal() }
                }
            }
            // An error without a stage: a POST may have been processed.
            #expect(begun.count == (method == .post ? 1 : 4) && asked.count == begun.count - (method == .post ? 1 : 2))
        }
    }

    @Test func `a returned 503 has an ending, and a 404 does not change the budget`() throws {
        let limits = try RetryLimits(budget: RetryBudget(capacity: 100, retryCost: 5, successDeposit: 1))
        let coordinator = coordinator(limits)
        let options = options(coordinator)
        let last = try world.result { () throws(RetryError) in try await request([503], options).run() }.get()
        #expect(last.value == 503 && last.ending == .attemptsExhausted && last.attempts.count == 3)
        #expect(coordinator.remainingBudget(for: "example.org") == 90)
        let absent = try world.result { () throws(RetryError) in try await request([404], options).run() }.get()
        #expect(absent.value == 404 && absent.ending == nil)
        #expect(coordinator.remainingBudget(for: "example.org") == 90)
        _ = try world.result { () throws(RetryError) in try await request([503, 404], options).run() }.get()
        #expect(coordinator.remainingBudget(for: "example.org") == 85)
        _ = try world.result { () throws(RetryError) in try await request([503, 200], options).run() }.get()
        _ = try world.result { () throws(RetryError) in try await request([200], options).run() }.get()
        #expect(coordinator.remainingBudget(for: "example.org") == 86)
    }

    @Test func `a response that was released for a retry is never returned`() throws {
        let options = options(coordinator(try RetryLimits(rate: 1.0 / 3600)))
        let release = RecordingListener<Int>()
        @Sendable func send() async -> Result<Int, RetryError> {
            do throws(RetryError) {
                return .success(try await request([503, 200], options, release: release).run().value)
            } catch {
                return .failure(error)
            }
        }
        // The second request in the queue would have to wait for an hour.
        let results = world.run {
            async let one = send()
            async let other = send()
            return await [one, other]
        }
        let endings = results.compactMap { result -> RetryError.Ending? in
            if case .failure(let error) = result { error.ending } else { nil }
        }
        #expect(endings == [.deadlineExpired])
        #expect(results.compactMap { try? $0.get() } == [200])
        #expect(release.values == [503, 503])
    }

    @Test func `Retry-After applies to all requests to the host`() throws {
        let coordinator = coordinator()
        let options = options(coordinator)
        let times = RecordingListener<Duration>()
        let outcomes = world.run { [world] in
            await withTaskGroup(of: [RetryAttempt].self) { group in
                group.addTask {
                    let held = request([429, 200], options, fields: ["Retry-After": "30"])
                    return (try? await held.run().attempts) ?? []
                }
                try? await world.sleep(for: .seconds(1))
                // These requests wait for Retry-After before their first attempt.
                for _ in 0..<2 {
                    group.addTask {
                        let outcome = try? await request([200], options).run()
                        times.record(world.time)
                        return outcome?.attempts ?? []
                    }
                }
                return await group.reduce(into: [[RetryAttempt]]()) { $0.append($1) }
            }
        }
        #expect(times.values.allSatisfy { $0 >= .seconds(30) && $0 < .seconds(31) } && times.count == 2)
        let held = outcomes.filter { ($0[0].error as? AttemptError)?.isCut == true }
        #expect(held.count == 2 && held.allSatisfy { $0[0].reason == .retryAfter && $0.count == 2 })
        #expect(coordinator.statistics.attempts == 4)
    }

    @Test func `the total rate limits the retries of all hosts together`() throws {
        let limits = try RetryLimits(rate: 100, totalRate: 10, spread: .zero)
        let coordinator = coordinator(limits)
        let retries = RecordingListener<Duration>()
        network.set(reachable: false)
        world.run { [world, network] in
            await withTaskGroup(of: Void.self) { group in
                for host in 0..<20 {
                    group.addTask {
                        guard let target = try? RetryTarget(host: "host\(host).example", method: .get) else { return }
                        _ = try? await withRetry(target: target, coordinator: coordinator, clock: world) { number in
                            guard number > 1 else { try await fail(with: RetryTests.unreachable) }
                            retries.record(world.time)
                        }
                    }
                }
                try? await world.sleep(for: .seconds(5))
                network.set(reachable: true)
            }
        }
        let times = retries.values
        #expect(times.count == 20 && zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(100) })
        #expect(times.last.map { $0 <= .milliseconds(7000) } == true)
    }

    @Test func `the first attempt waits for a path if the policy requires it`() throws {
        let policy = try RetryPolicy(waitsFirst: true)
        let target = try RetryTarget(host: "example.org", method: .get)
        let coordinator = coordinator()
        network.set(reachable: false)
        let outcome = try world.result { [world, network] () throws(RetryError) in
            async let back: Void = {
                try? await world.sleep(for: .seconds(9))
                network.set(reachable: true)
            }()
            let outcome = try await withRetry(policy: policy, target: target, coordinator: coordinator, clock: world) {
                $0
            }
            await back
            return outcome
        }.get()
        #expect(outcome.attempts.count == 2 && outcome.attempts[1].began >= .seconds(9))
        #expect((outcome.attempts[0].error as? AttemptError)?.isCut == true && coordinator.statistics.attempts == 1)
    }

    @Test func `a call of the retrier does not count as an attempt`() throws {
        let coordinator = coordinator()
        var options = options(coordinator)
        options.validate = { head in if head.status >= 400 { throw Refusal() } }
        options.retrier = Retrier { request, _, completion in
            completion(request.retryCount == 0 ? .retry : .doNotRetry)
        }
        let retried = request([401, 200], options)
        #expect(try world.result { () throws(RetryError) in try await retried.run() }.get().value == 200)
        #expect(coordinator.statistics.attempts == 2)
    }

    @Test func `a single attempt for another run neither waits nor counts, and a probe is not ended early`() throws {
        network.set(reachable: false)
        let coordinator = coordinator()
        let slow = NumberedRequest(
            RequestHead(method: .post, url: "https://example.org/"),
            options: options(coordinator)
        ) { [world] progress in
            try await world.sleep(for: .seconds(5))
            progress.send()
            return (1, ResponseHead(status: 503) { _ in nil })
        }
        #expect(try world.result { () throws(RetryError) in try await slow.once(isProbe: true) }.get() == 1)
        #expect(world.time == .seconds(5))
        let error = try #require(failure { () throws(RetryError) in try await slow.once(isProbe: false) })
        guard case .noPath? = error.lastError as? AttemptError else {
            Issue.record("\(error)")
            return
        }
        #expect(error.attempts.count == 1 && world.time < .milliseconds(5500))
        #expect(coordinator.statistics == RetryStatistics() && network.watchCount == 0)
    }

    @Test func `a hanging probe is replaced when the network is back`() throws {
        network.set(reachable: false)
        let retried = world.hangingOnce(.post, options: options(coordinator()), isSent: false)
        let outcome = try world.result {
            [world, network] in
            try? await world.sleep(for: .seconds(65))
            network.set(reachable: true)
        } _: { () throws(RetryError) in
            try await retried.run()
        }.get()
        #expect(outcome.value == 2)
        let last = try #require(outcome.attempts.last)
        #expect(last.began >= .seconds(65) && last.began < .milliseconds(65_100))
    }

    @Test(arguments: [RequestMethod.get, .post])
    func `an attempt whose source address was removed is ended if it may be repeated`(method: RequestMethod) throws {
        network.set(source: "192.0.2.7")
        let policy = try RetryPolicy(deadline: .seconds(60))
        let retried = world.hangingOnce(method, policy: policy, options: options(coordinator()))
        let result = world.result {
            [world, network] in
            try? await world.sleep(for: .seconds(2))
            // First a different path with the same source address.
            network.change()
            try? await world.sleep(for: .seconds(2))
            network.set(source: "198.51.100.7")
        } _: { () throws(RetryError) in
            try await retried.run()
        }
        guard method == .get else {
            let error = try #require(result.failure)
            #expect(error.ending == .deadlineExpired && error.attempts.count == 1)
            return
        }
        let attempts = try result.get().attempts
        guard case .sourceAddressLost("192.0.2.7")? = attempts[0].error as? AttemptError else {
            Issue.record("\(attempts)")
            return
        }
        #expect(attempts[0].ended == .seconds(4) && attempts[0].reason == .newPath && attempts.count == 2)
    }

    @Test func `an observer receives waits, probes, disagreements and the end`() throws {
        let events = RecordingListener<String>()
        let coordinator = coordinator(observer: { event in
            switch event {
            case .waiting(let target, let attempt, let pause):
                events.record("\(target) waits for \(attempt.reason?.rawValue ?? ""), \(pause == nil)")
            case .probing: events.record("probes")
            case .disagreement(_, let reachability): events.record("\(reachability) is wrong")
            case .redirected: events.record("redirected")
            case .ended(_, let ending, let attempts):
                events.record("\(ending?.rawValue ?? "success") after \(attempts)")
            }
        })
        network.set(.notReachable, because: HostReachability.Reason(rawValue: "noRoute"))
        let target = try RetryTarget(host: "example.org", method: .get)
        _ = try world.result { [world] () throws(RetryError) in
            try await withRetry(target: target, coordinator: coordinator, clock: world) { number in
                if number == 1 { try await fail(with: RetryTests.unreachable) }
            }
        }.get()
        #expect(
            events.values == [
                "example.org waits for unreachable, true", "probes", "not reachable, noRoute is wrong",
                "success after 2",
            ]
        )
    }
}
