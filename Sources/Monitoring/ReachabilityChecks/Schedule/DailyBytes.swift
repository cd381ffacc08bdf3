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
