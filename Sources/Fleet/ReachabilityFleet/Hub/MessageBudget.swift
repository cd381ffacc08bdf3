import LinuxSupport

/// How many messages a machine may send: so many at once as a broker keeps for it, and 50 a second then. An agent sends 20.
struct MessageBudget: Hashable, Sendable {
    static let burst: Int64 = 2000
    static let perSecond: Int64 = 50

    private var left = Self.burst * 1000
    private var counted: Duration?

    /// Whether one more is taken.
    mutating func take(at now: Duration) -> Bool {
        if let counted, now > counted {
            let earned = min((now - counted).milliseconds, Self.burst * 1000) * Self.perSecond
            left = min(left + earned, Self.burst * 1000)
        }
        counted = now
        guard left >= 1000 else { return false }
        left -= 1000
        return true
    }
}
