/// How much of the time of a round is left.
struct RoundClock: Sendable {
    private let deadline: ContinuousClock.Instant

    init(limit: Duration) {
        deadline = .now + limit
    }

    /// Never less than what one answer from nearby takes: what begins late is to have a chance.
    var left: Duration { max(deadline - .now, .milliseconds(300)) }

    /// The same, and no longer than `limit`.
    func left(atMost limit: Duration) -> Duration { min(left, limit) }

    /// So much more time there is for finding out whether small packets pass.
    static let smallSegments = Duration.milliseconds(2600)
}
