extension ManualClock {
    /// All that changes of a clock, only ever touched under its lock.
    struct State: Sendable {
        var monotonic: Duration
        var boot: Duration
        var timers: [UInt64: Timer] = [:]
        var watchers: [UInt64: Timer] = [:]
        private var nextID: UInt64 = 0

        /// Both clocks stand at `start`.
        init(start: Duration) {
            monotonic = start
            boot = start
        }

        mutating func makeID() -> UInt64 {
            nextID += 1
            return nextID
        }

        /// Both clocks go on; a time that is over changes nothing.
        mutating func move(to time: Duration) {
            boot += max(.zero, time - monotonic)
            monotonic = max(monotonic, time)
        }
    }
}
