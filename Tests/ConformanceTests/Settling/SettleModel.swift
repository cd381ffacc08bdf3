import NetworkReachability

/// What a listener of the status must hear, told in the simplest way: millisecond by millisecond, with all of the past at
/// hand.
struct SettleModel {
    /// What was heard, and when.
    struct Entry: Equatable, Sendable {
        let time: Duration
        let status: NetworkReachabilityStatus
    }

    private let policy: SettlePolicy
    private var now: Int
    private var status: NetworkReachabilityStatus
    /// Since when the status is what it is, and since when it is as reachable as it is.
    private var sinceStatus: Int
    private(set) var heard: [Entry]

    init(_ policy: SettlePolicy, at now: Duration, _ status: NetworkReachabilityStatus) {
        self.policy = policy
        self.now = Int(now / .milliseconds(1))
        self.status = status
        sinceStatus = self.now
        heard = [Entry(time: now, status: status)]
    }

    mutating func pass(milliseconds: Int) {
        for _ in 0..<milliseconds {
            now += 1
            look()
        }
    }

    mutating func change(to status: NetworkReachabilityStatus) {
        if status != self.status { sinceStatus = now }
        self.status = status
        look()
    }

    private mutating func look() {
        guard let told = heard.last?.status, status != told, isTold(after: told) else { return }
        heard.append(Entry(time: .milliseconds(now), status: status))
    }

    private func isTold(after told: NetworkReachabilityStatus) -> Bool {
        switch policy {
        case .immediate: true
        case .settled(let duration): .milliseconds(now - sinceStatus) >= duration
        }
    }
}
