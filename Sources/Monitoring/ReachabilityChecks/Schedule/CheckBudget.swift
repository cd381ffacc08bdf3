/// What a check that goes on may send, and what it has sent: bytes in a day. A value; time is told. How fast probes follow each other is
/// for ``ProbeGate`` to say.
package struct CheckBudget: Sendable {
    /// Why a round is run.
    package enum Purpose: String, Hashable, Sendable, CaseIterable, Codable {
        /// Something has changed, or somebody asks. This has no limit, and is counted.
        case event
        /// Nobody talks, and it is to be seen whether it still works.
        case idle
        /// The same with the hosts that the user names.
        case anchors
        /// It is broken, or may be.
        case trouble
    }

    /// Bytes in a day.
    package struct Limits: Hashable, Sendable {
        package var idle = 250_000
        package var anchors = 1_600_000
        package var trouble = 6_000_000
        package var meteredIdle = 25_000
        package var meteredTrouble = 500_000

        package init() {}

        /// In bytes; nil for no limit.
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
    private var total = ProbeCost()

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    // MARK: Bytes in a day

    /// Whether so many more rounds for this purpose fit into the day.
    package func allows(_ purpose: Purpose, _ isMetered: Bool, rounds: Int = 1, at now: Duration) -> Bool {
        guard let limit = limits.bytes(for: purpose, isMetered) else { return true }
        guard limit > 0 else { return false }
        return days[Account(purpose: purpose, isMetered: isMetered)]?.hasRoom(for: rounds, limit, at: now) ?? true
    }

    /// When the day ends that a round does not fit into any more.
    package func renewal(of purpose: Purpose, _ isMetered: Bool, at now: Duration) -> Duration {
        days[Account(purpose: purpose, isMetered: isMetered)].map { max($0.end, now) } ?? now + DailyBytes.day
    }

    package mutating func spend(_ cost: ProbeCost, on purpose: Purpose, _ isMetered: Bool, at now: Duration) {
        total = total + cost
        days[Account(purpose: purpose, isMetered: isMetered), default: DailyBytes(began: now)].add(cost, at: now)
    }

    /// For JSON.
    package func figures(at now: Duration) -> Figures {
        var figures = Figures(total: total)
        for (account, day) in days {
            let name = account.isMetered ? "\(account.purpose.rawValue)Metered" : account.purpose.rawValue
            figures.today[name] = day.spent(at: now)
        }
        return figures
    }

    /// What was sent.
    package struct Figures: Hashable, Sendable, Codable {
        package var total: ProbeCost
        /// By purpose, in the day that each has begun with its first round.
        package var today: [String: ProbeCost] = [:]
    }
}
