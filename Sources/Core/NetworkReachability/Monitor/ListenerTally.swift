/// How often listeners were called, and how long after what led to it.
struct ListenerTally {
    private(set) var calls: UInt64 = 0
    private(set) var lag = LatencyHistogram()

    /// - Parameter lag: nil for a call that no notification led to.
    mutating func count(lag delay: Duration?) {
        calls += 1
        if let delay { lag.record(delay) }
    }

    func add(to statistics: inout MonitorStatistics) {
        statistics.listenerCalls = calls
        statistics.lag = lag.separateCopy()
    }
}
