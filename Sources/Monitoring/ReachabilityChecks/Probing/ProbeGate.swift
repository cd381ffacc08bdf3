import LinuxSupport
import NetworkReachability

/// What all probes that share it may do together: so many begin in a second, and a router is made to send so many errors. Thread-safe.
package final class ProbeGate: Sendable {
    /// Whoever answers a packet with an error: the gateway of a link.
    struct Router: Hashable, Sendable {
        let namespace: NetworkNamespace
        let link: UInt32
        let address: IPAddress?
    }

    /// A probe of a line. Rounds that run the same one at the same time share its results.
    struct LineProbe: Hashable, Sendable {
        let kind: ProbeKind
        let router: Router
        let destination: IPAddress
        let source: IPAddress?
        let mark: UInt32?
    }

    private struct State {
        var pace: ProbePace
        var routers = RouterPatience<Router>()
        /// The rounds that wait for the results of a probe that another round runs.
        var waiters: [LineProbe: [AsyncStream<[ProbeResult]>.Continuation]] = [:]
    }

    /// Of every check that goes on, and of every one that a program asks for: 20 in a second, 50 at once.
    package static let process = ProbeGate(rate: 20, burst: 50)

    private let state: Locked<State>

    /// - Parameters:
    ///   - rate: probes in a second.
    ///   - burst: how many may begin at once.
    package init(rate: Int, burst: Int) {
        state = Locked(State(pace: ProbePace(rate: rate, burst: burst)))
    }

    /// As many as are wanted, for a round that is paced otherwise.
    package convenience init() {
        self.init(rate: 1_000_000, burst: 1_000_000)
    }

    /// Waits until one more probe may begin; not where the task is cancelled, for then nothing is sent.
    func pass() async {
        while true {
            let wait = state.withLock { $0.pace.start(at: SystemClock.monotonic) }
            if wait == .zero { return }
            do { try await Task.sleep(for: wait) } catch { return }
        }
    }

    /// Whether a packet may be sent now that a router answers with an error; then it counts as sent.
    func provoke(_ router: Router, at now: Duration = SystemClock.monotonic) -> Bool {
        state.withLock { $0.routers.provoke(router, at: now) }
    }

    /// Runs a probe of a line, or waits for the round that runs the same probe at this moment.
    ///
    /// A router sends few errors in a time. If each round sent probes of its own, some rounds would see a router that answers and others
    /// would see silence, and one fault would have several verdicts. The results of another round cost nothing here.
    ///
    /// - Returns: No results if the task is cancelled before the probe begins.
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
                // A round that was cancelled before the router answered shows nothing.
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

    /// How many probes have begun, and how many errors were not provoked.
    var figures: (started: Int, withheld: Int) {
        state.withLock { ($0.pace.started, $0.routers.withheld) }
    }
}

extension ProbeResult {
    /// The result for a round that did not send the packets.
    fileprivate var withoutCost: ProbeResult {
        var result = self
        result.cost = ProbeCost()
        return result
    }
}

/// A token bucket of probes, as the time at which it would be full again.
struct ProbePace: Sendable {
    private let interval: Duration
    private let depth: Duration
    private var full: Duration?
    private(set) var started = 0
    private(set) var delayed = 0

    /// - Parameters:
    ///   - rate: probes in a second.
    ///   - burst: how many may start at once.
    init(rate: Int, burst: Int) {
        interval = .seconds(1) / max(1, rate)
        depth = interval * (max(1, burst) - 1)
    }

    /// - Returns: how long to wait before asking again; zero where it may start now.
    mutating func start(at now: Duration) -> Duration {
        let time = max(full ?? now, now)
        guard time - now <= depth else {
            delayed += 1
            return time - now - depth
        }
        full = time + interval
        started += 1
        return .zero
    }
}

/// Which routers were made to send errors, and when: three times in three seconds each. A Linux router answers a burst with six at most,
/// and then one in a second; of errors about its routes it sends two, and then one in two seconds. Who asks for more gets nothing, and
/// takes from others. Echoes are no errors.
struct RouterPatience<Router: Hashable & Sendable>: Sendable {
    private static var window: Duration { .seconds(3) }
    private static var limit: Int { 3 }

    private var times: [Router: [Duration]] = [:]
    private(set) var withheld = 0

    mutating func provoke(_ router: Router, at now: Duration) -> Bool {
        times = times.mapValues { $0.filter { now - $0 < Self.window } }.filter { !$0.value.isEmpty }
        guard times[router, default: []].count < Self.limit else {
            withheld += 1
            return false
        }
        times[router, default: []].append(now)
        return true
    }
}
