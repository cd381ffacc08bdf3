/// How much of the time of a round is left: of one round all probes have the same.
struct RoundClock: Sendable {
    private let limit: Duration
    private let deadline: ContinuousClock.Instant

    init(limit: Duration) {
        self.limit = limit
        deadline = .now + limit
    }

    /// With less nothing is begun any more: whoever did not answer in so short a time would not be silent.
    private static let least = Duration.milliseconds(100)

    /// Whether it is too late to begin anything.
    var isOver: Bool { deadline - .now < Self.least }

    var left: Duration { max(deadline - .now, .milliseconds(1)) }

    /// The same, and no longer than `limit`.
    func left(atMost limit: Duration) -> Duration { min(left, limit) }

    /// Waits for what is begun later.
    ///
    /// - Returns: whether it may begin: neither is the task cancelled, nor is it too late.
    func hasPassed(_ time: Duration) async -> Bool {
        guard .now + time + Self.least <= deadline else { return false }
        do { try await Task.sleep(for: time) } catch { return false }
        return !isOver
    }

    /// So much more time there is for finding out whether small packets pass.
    var smallSegments: Duration { min(limit, .milliseconds(2600)) }
}
