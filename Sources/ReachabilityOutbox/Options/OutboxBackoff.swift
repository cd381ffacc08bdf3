/// How long a host is left alone after a request failed: a random time up to `base` × 2ⁿ⁻¹ after n failures in a row, at most
/// `cap`. It ends at once when the host becomes reachable again.
///
/// | failures in a row | at most, by default |
/// |---|---|
/// | 1 | 0.5 s |
/// | 2 | 1 s |
/// | 3 | 2 s |
/// | 8 and more | 60 s |
public struct OutboxBackoff: Hashable, Sendable {
    /// The longest wait after the first failure.
    public var base: Duration
    /// The longest wait of all.
    public var cap: Duration

    /// A negative duration counts as none.
    public init(base: Duration = .milliseconds(500), cap: Duration = .seconds(60)) {
        self.base = base
        self.cap = cap
    }

    /// - Parameter random: from 0 to 1.
    func delay(after failures: Int, random: Double) -> Duration {
        // Twice sixty times is more than any cap, and more would overflow.
        let limit = (1..<max(1, min(failures, 60))).reduce(max(base, .zero)) { limit, _ in min(limit * 2, cap) }
        return min(limit, cap) * random
    }
}
