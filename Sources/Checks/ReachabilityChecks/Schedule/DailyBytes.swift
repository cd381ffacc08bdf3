import NetworkReachability

/// What was sent for one purpose since its day began.
struct DailyBytes: Sendable {
    static let day = Duration.seconds(86_400)

    private var began: Duration
    private var spent = ProbeCost()
    /// The most that one round has cost: the next is expected to cost as much.
    private var largest = 0

    init(began: Duration) {
        self.began = began
    }

    var end: Duration { began + Self.day }

    func hasRoom(for rounds: Int, _ limit: Int, at now: Duration) -> Bool {
        now >= end || spent.bytes + rounds * largest <= limit
    }

    func spent(at now: Duration) -> ProbeCost { now >= end ? ProbeCost() : spent }

    mutating func add(_ cost: ProbeCost, at now: Duration) {
        if now >= end { (began, spent) = (now, ProbeCost()) }
        spent = spent + cost
        largest = max(largest, cost.bytes)
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

/// Which routers were made to send errors, and when.
struct RouterPatience: Sendable {
    private static let window = Duration.seconds(3)
    private static let limit = 3

    private var times: [IPAddress: [Duration]] = [:]
    private(set) var provoked = 0
    private(set) var withheld = 0

    mutating func provoke(_ router: IPAddress, at now: Duration) -> Bool {
        times = times.mapValues { $0.filter { now - $0 < Self.window } }.filter { !$0.value.isEmpty }
        guard times[router, default: []].count < Self.limit else {
            withheld += 1
            return false
        }
        times[router, default: []].append(now)
        provoked += 1
        return true
    }
}
