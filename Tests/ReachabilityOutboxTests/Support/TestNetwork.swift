import LinuxSupport
import ReachabilityOutbox
import ReachabilityRetry
import TestSupport

/// Hosts with a settable reachability, and a clock that measures all waits.
final class TestNetwork: Sendable {
    let clock = TestClock()
    private let network = PlayedNetwork()

    deinit {
        // Alarms that are no longer needed sleep until their time. They must end with the test.
        clock.advance(by: .seconds(86_400 * 365))
    }

    /// A new coordinator.
    var coordinator: RetryCoordinator {
        do {
            return RetryCoordinator(limits: try RetryLimits(spread: .zero), reachability: network, clock: clock)
        } catch {
            fatalError("\(error)")
        }
    }

    /// Options with the test's clock and without randomness.
    var options: OutboxOptions {
        var options = OutboxOptions()
        options.use(clock)
        return options
    }

    func set(_ host: String, reachable: Bool, reason: HostReachability.Reason? = nil) {
        network.set(host, reachable: reachable, reason: reason)
    }

    /// The number of watches of a host.
    func listenerCount(_ host: String) -> Int { network.watchCount(of: host) }
}

/// A clock that advances only on request. It is both the time since 1970 and the time since the boot.
final class TestClock: Clock {
    typealias Instant = VirtualWorld.Instant

    private struct State {
        var now: Duration = .seconds(1_000_000)
        var sleepers: [UInt64: (end: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]
        var next: UInt64 = 0
    }

    private let state = Locked(State())

    let minimumResolution: Duration = .zero
    var now: Instant { Instant(offset: time) }
    var time: Duration { state.withLock { $0.now } }

    /// The number of sleeps that have begun.
    var sleeps: UInt64 { state.withLock { $0.next } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || deadline.offset <= state.now { return true }
                    state.sleepers[id] = (deadline.offset, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { [now = state.now] in $0.value.end <= now }
            for id in due.keys { state.sleepers.removeValue(forKey: id) }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until a task sleeps for the duration from now.
    func untilSleeping(for duration: Duration) async {
        while !Task.isCancelled,
            !state.withLock({ state in state.sleepers.values.contains { $0.end == state.now + duration } })
        {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}

extension OutboxOptions {
    /// Uses a clock for all times, and removes randomness.
    mutating func use(_ clock: TestClock) {
        self.clock = clock
        if let backoff = try? Backoff(isJittered: false) { self.backoff = backoff }
        realTime = { clock.time }
    }
}

extension Outbox {
    /// Runs the outbox while a function runs.
    func running(
        _ sender: some OutboxSender,
        _ coordinator: RetryCoordinator,
        report: @escaping @Sendable (OutboxEvent) -> Void = { _ in },
        while body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.run(sender: sender, coordinator: coordinator, report: report) }
            try await body()
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
