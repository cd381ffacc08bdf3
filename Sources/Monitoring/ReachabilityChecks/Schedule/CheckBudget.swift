import NetworkReachability

/// The daily budget of a continuous check in bytes. ``ProbeGate`` limits the rate of probes.
struct CheckBudget: Sendable {
    /// The purpose of a round.
    enum Purpose: Hashable, Sendable {
        /// The network has changed. Such rounds have no limit.
        case event
        /// No connection of another program shows that the network works.
        case idle
        /// No connection of another program shows that the network works, and anchors are probed.
        case anchors
        /// There is a fault, or a suspicion of one.
        case trouble
    }

    /// The limits in bytes per day.
    struct Limits: Hashable, Sendable {
        var idle = 250_000
        var anchors = 1_600_000
        var trouble = 6_000_000
        var meteredIdle = 25_000
        var meteredTrouble = 500_000

        /// Returns a limit in bytes; nil for no limit.
        func bytes(for purpose: Purpose, _ isMetered: Bool) -> Int? {
            switch purpose {
            case .event: nil
            case .idle: isMetered ? meteredIdle : idle
            case .anchors: isMetered ? 0 : anchors
            case .trouble: isMetered ? meteredTrouble : trouble
            }
        }
    }

    private struct Account: Hashable {
        var purpose: Purpose
        var isMetered: Bool
    }

    private let limits: Limits
    private var days: [Account: DailyBytes] = [:]

    init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    // MARK: Bytes in a day

    /// Returns whether the budget of the day has room for more rounds of this purpose.
    func allows(_ purpose: Purpose, _ isMetered: Bool, rounds: Int = 1, at now: Duration) -> Bool {
        guard let limit = limits.bytes(for: purpose, isMetered) else { return true }
        guard limit > 0 else { return false }
        return days[Account(purpose: purpose, isMetered: isMetered)]?.hasRoom(for: rounds, limit, at: now) ?? true
    }

    /// Returns the end of the day if its budget is used up.
    func renewal(of purpose: Purpose, _ isMetered: Bool, at now: Duration) -> Duration {
        days[Account(purpose: purpose, isMetered: isMetered)].map { max($0.end, now) } ?? now + DailyBytes.day
    }

    mutating func spend(_ cost: ProbeCost, on purpose: Purpose, _ isMetered: Bool, at now: Duration) {
        days[Account(purpose: purpose, isMetered: isMetered), default: DailyBytes(began: now)].add(cost, at: now)
    }

    func spent(on purpose: Purpose, _ isMetered: Bool, at now: Duration) -> ProbeCost {
        days[Account(purpose: purpose, isMetered: isMetered)]?.spent(at: now) ?? ProbeCost()
    }
}

/// The cost of the rounds of one purpose since the start of its day.
struct DailyBytes: Sendable {
    static let day = Duration.seconds(86_400)

    private var began: Duration
    private var spent = ProbeCost()
    /// The largest cost of a round in bytes. The next round is expected to cost as much.
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
