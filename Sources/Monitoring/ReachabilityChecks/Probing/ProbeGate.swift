import LinuxSupport
import NetworkReachability

/// Limits the rate of probes, and of the errors that a router is made to send, for all checks that share it. Thread-safe.
final class ProbeGate: Sendable {
    /// A router that answers probes with ICMP errors: the gateway of a link.
    struct Router: Hashable, Sendable {
        let namespace: NetworkNamespace
        let link: UInt32
        let address: IPAddress?
    }

    /// A probe of the uplink. Rounds that need the same probe at the same time share its results.
    struct LineProbe: Hashable, Sendable {
        let kind: ProbeKind
        let router: Router
        let destination: IPAddress
        let source: IPAddress?
        let mark: UInt32?
    }

    private struct State {
        var pace: ProbePace
        var routers = RouterErrorLimit<Router>()
        /// The rounds that wait for the results of a probe of another round.
        var waiters: [LineProbe: [AsyncStream<[ProbeResult]>.Continuation]] = [:]
    }

    /// The limit of single checks and of the rounds of verdict sequences: 20 probes per second, with a burst of 50.
    static let process = ProbeGate(rate: 20, burst: 50)

    private let state: Locked<State>
    private let clock: @Sendable () -> Duration

    /// - Parameters:
    ///   - rate: The number of probes per second.
    ///   - burst: The maximum number of probes that start at once.
    init(rate: Int, burst: Int, clock: @escaping @Sendable () -> Duration = { SystemClock.monotonic }) {
        state = Locked(State(pace: ProbePace(rate: rate, burst: burst)))
        self.clock = clock
    }

    /// Creates a gate without a limit of probes, for targets that have their own rate.
    convenience init() {
        self.init(rate: 1_000_000, burst: 1_000_000)
    }

    /// Starts a probe, unless it has to wait.
    ///
    /// - Returns: The time to wait; zero if the probe has begun.
    func start() -> Duration { state.withLock { $0.pace.start(at: clock()) } }

    /// Waits until a probe may start. Returns immediately if the task is cancelled, because no packet is sent then.
    func pass() async {
        while true {
            let wait = start()
            if wait == .zero { return }
            do { try await Task.sleep(for: wait) } catch { return }
        }
    }

    /// Counts a packet that makes a router send an error.
    ///
    /// - Returns: True if the packet may be sent now.
    func permitError(_ router: Router) -> Bool {
        state.withLock { $0.routers.permitError(router, at: clock()) }
    }

    /// Runs a probe of the uplink, or waits for a round that runs the same probe at this moment.
    ///
    /// Routers limit the rate of their errors. If each round sent its own probes, some rounds would see a router that answers and others
    /// would see silence, and one fault would have several verdicts. Shared results have no cost for the waiting round.
    ///
    /// - Returns: The results. Empty if the task is cancelled before the probe starts.
    func share(_ probe: LineProbe, _ work: () async -> [ProbeResult]) async -> [ProbeResult] {
        while !Task.isCancelled {
            let (stream, waiter) = AsyncStream.makeStream(of: [ProbeResult].self)
            let isFirst = state.withLock { state in
                guard state.waiters[probe] != nil else {
                    state.waiters[probe] = []
                    return true
                }
                state.waiters[probe]?.append(waiter)
                return false
            }
            guard isFirst else {
                guard let results = await stream.first(where: { _ in true }) else { break }
                // A round that was cancelled before the router answered proves nothing.
                let isCut = results.contains { $0.outcome == .cancelled }
                if isCut, !results.contains(where: { $0.outcome == .answered }) { continue }
                return results.map(\.withoutCost)
            }
            let results = await work()
            for waiter in state.withLock({ $0.waiters.removeValue(forKey: probe) ?? [] }) {
                waiter.yield(results)
                waiter.finish()
            }
            return results
        }
        return []
    }

    /// The number of rounds that wait for a probe of another round.
    var sharing: Int { state.withLock { $0.waiters.values.reduce(0) { $0 + $1.count } } }

    /// The number of started probes, and the number of packets that were not sent to spare routers.
    var figures: (started: Int, withheld: Int) {
        state.withLock { ($0.pace.started, $0.routers.withheld) }
    }
}

extension ProbeResult {
    /// The result without its cost, for a round that did not send the packets.
    var withoutCost: ProbeResult {
        var result = self
        result.cost = ProbeCost()
        return result
    }
}

/// A token bucket of probes. It stores the time at which it would be full again.
struct ProbePace: Sendable {
    private let interval: Duration
    private let depth: Duration
    private var full: Duration?
    private(set) var started = 0

    /// - Parameters:
    ///   - rate: The number of probes per second.
    ///   - burst: The maximum number of probes that start at once.
    init(rate: Int, burst: Int) {
        interval = .seconds(1) / max(1, rate)
        depth = interval * (max(1, burst) - 1)
    }

    /// Counts the start of a probe, or delays it.
    ///
    /// - Returns: The time to wait; zero if the probe may start now.
    mutating func start(at now: Duration) -> Duration {
        let time = max(full ?? now, now)
        guard time - now <= depth else { return time - now - depth }
        full = time + interval
        started += 1
        return .zero
    }
}

/// Limits the errors that each router is made to send to three in three seconds. A Linux router answers a burst with at most six errors,
/// and then with one per second. For errors about routes, these are two errors, and then one per two seconds. Echoes are not limited.
struct RouterErrorLimit<Router: Hashable & Sendable>: Sendable {
    private static var window: Duration { .seconds(3) }
    private static var limit: Int { 3 }

    private var times: [Router: [Duration]] = [:]
    private(set) var withheld = 0

    mutating func permitError(_ router: Router, at now: Duration) -> Bool {
        times = times.mapValues { $0.filter { now - $0 < Self.window } }.filter { !$0.value.isEmpty }
        guard times[router, default: []].count < Self.limit else {
            withheld += 1
            return false
        }
        times[router, default: []].append(now)
        return true
    }
}

/// The anchors that requested a pause (`Retry-After`). Thread-safe.
final class AnchorPauses: Sendable {
    /// The instance that all checks of the process share.
    static let process = AnchorPauses()

    /// The maximum pause of an anchor that has proved its identity.
    static let longest = Duration.seconds(3600)
    /// The maximum pause without proof. It is shorter because a captive portal can answer in place of an anchor.
    static let longestUnproven = Duration.seconds(60)

    private let ends = Locked<[CheckOptions.Anchor: ContinuousClock.Instant]>([:])

    /// Stores the pauses in the results of an anchor.
    func note(_ results: [ProbeResult], of anchor: CheckOptions.Anchor, at now: ContinuousClock.Instant = .now) {
        for result in results {
            guard let wait = result.evidence.http?.retryAfter else { continue }
            let longest = result.isVerified || result.isEchoed ? Self.longest : Self.longestUnproven
            let end = now + min(wait, longest)
            ends.withLock { $0[anchor] = max($0[anchor] ?? end, end) }
        }
    }

    /// Returns the anchors that may be queried now.
    func awake(_ anchors: [CheckOptions.Anchor], at now: ContinuousClock.Instant = .now) -> [CheckOptions.Anchor] {
        ends.withLock { ends in
            ends = ends.filter { $0.value > now }
            return anchors.filter { ends[$0] == nil }
        }
    }
}

/// Limits concurrent work that needs file descriptors, in first-in, first-out order. A connection to a web server needs two. Thread-safe.
final class ConcurrencyLimit: Sendable {
    /// The instance for the web probes of the process. With two file descriptors per connection they use at most a
    /// quarter of its file descriptors.
    static let shared = ConcurrencyLimit(count: min(256, OpenFiles.limit / 8))

    private struct State {
        var free: Int
        var line: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        /// The waiting numbers, oldest first. Some of them may be cancelled.
        var order: ArraySlice<UInt64> = []
        var last: UInt64 = 0
    }

    private let count: Int
    private let state: Locked<State>

    init(count: Int) {
        self.count = max(1, count)
        state = Locked(State(free: max(1, count)))
    }

    /// Whether work is in progress, which will free file descriptors.
    var isInUse: Bool { state.withLock { $0.free < count } }

    /// Performs work as soon as the limit allows. Returns nil if the task is cancelled before.
    func during<Value: Sendable>(_ work: () async -> Value) async -> Value? {
        guard await take() else { return nil }
        defer { release() }
        return await work()
    }

    private func take() async -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                let isFirst: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.line[number] = waiting
                    state.order.append(number)
                    return nil
                }
                if let isFirst { waiting.resume(returning: isFirst) }
            }
        } onCancel: {
            state.withLock { $0.line.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    private func release() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            while let number = state.order.popFirst() {
                if let next = state.line.removeValue(forKey: number) { return next }
            }
            state.order = []
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
