import NetworkReachability

/// The budget of a continuous check in bytes a day. ``ProbeGate`` limits the rate of probes.
struct CheckBudget: Sendable {
    /// The purpose of a round.
    enum Purpose: Hashable, Sendable {
        /// A change. It has no limit.
        case event
        /// No connection of another program shows that the network works.
        case idle
        /// The same with the anchors.
        case anchors
        /// A fault, or a suspicion.
        case trouble
    }

    /// The limits in bytes a day.
    struct Limits: Hashable, Sendable {
        var idle = 250_000
        var anchors = 1_600_000
        var trouble = 6_000_000
        var meteredIdle = 25_000
        var meteredTrouble = 500_000

        /// Returns a limit in bytes; nil for none.
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

    /// Whether more rounds for this purpose fit into the day.
    func allows(_ purpose: Purpose, _ isMetered: Bool, rounds: Int = 1, at now: Duration) -> Bool {
        guard let limit = limits.bytes(for: purpose, isMetered) else { return true }
        guard limit > 0 else { return false }
        return days[Account(purpose: purpose, isMetered: isMetered)]?.hasRoom(for: rounds, limit, at: now) ?? true
    }

    /// The end of the day into which no more round fits.
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

/// The cost for one purpose since its day began.
struct DailyBytes: Sendable {
    static let day = Duration.seconds(86_400)

    private var began: Duration
    private var spent = ProbeCost()
    /// The largest cost of a round in bytes, which is expected of the next one.
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
