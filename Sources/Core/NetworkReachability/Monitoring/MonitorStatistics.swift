import LinuxSupport
import Netlink

/// The counters of a monitor since its creation. They never decrease, and contain only activity of this process.
///
/// All managers of a network namespace share one monitor, so the numbers include all of them.
public struct MonitorStatistics: Hashable, Sendable {
    /// The number of messages received from the kernel.
    public internal(set) var messages: UInt64 = 0

    /// The number of ``messages`` about routes that concern no target. They caused no evaluation. If the kernel filters
    /// messages, only a few such messages are received.
    public internal(set) var irrelevantMessages: UInt64 = 0

    /// The number of reports that messages were lost because the socket buffer was full (ENOBUFS, `netlink(7)`). No
    /// change is missed, because each loss causes an evaluation.
    public internal(set) var overruns: UInt64 = 0

    /// The number of messages from other processes, which are ignored. They are not part of ``messages``.
    public internal(set) var foreignMessages: UInt64 = 0

    /// The number of evaluations caused by an event, a timer or a new listener.
    public internal(set) var evaluations: UInt64 = 0

    /// The number of targets in those ``evaluations``. A target is counted in each of them.
    public internal(set) var evaluatedTargets: UInt64 = 0

    /// The number of route lookups (RTM_GETROUTE, `rtnetlink(7)`), for evaluations and for queries of managers.
    public internal(set) var lookups: UInt64 = 0

    /// The number of listener calls that have returned, and of elements passed to asynchronous sequences.
    public internal(set) var listenerCalls: UInt64 = 0

    /// The delays from a notification to the call of a listener.
    ///
    /// A delay begins when the thread that waits for the kernel wakes up. It ends when the listener is called, on its
    /// queue if it has one. For an asynchronous sequence it ends when the element is available to the reader. If
    /// several notifications caused one evaluation, the first one counts.
    ///
    /// Calls without a notification are not measured: the first call of a listener, and calls after a timer or an
    /// answer of the name service.
    public internal(set) var lag = LatencyHistogram()

    /// Creates counters with the value 0.
    package init() {}

    mutating func count(_ burst: EventBurst) {
        messages += UInt64(burst.messages)
        overruns += UInt64(burst.overruns)
        foreignMessages += UInt64(burst.foreign)
    }
}

extension MonitorStatistics: CustomStringConvertible {
    /// All counters with their names, on one line.
    public var description: String {
        """
        messages \(messages), irrelevant \(irrelevantMessages), overruns \(overruns), foreign \(foreignMessages), \
        evaluations \(evaluations), targets \(evaluatedTargets), lookups \(lookups), listener calls \(listenerCalls), \
        lag: \(lag)
        """
    }
}

/// A histogram of durations with buckets whose width grows with the value, in a fixed 4 KiB.
///
/// Between 1 µs and 1 h, a quantile differs from the exact value by at most 1/64 (1.6 %). Values below 0.5 µs are
/// counted as one value, and values above 73 minutes as 73 minutes. The count, the minimum, the maximum and the mean
/// are exact. The layout is that of HDR histograms: 32 equal buckets per doubling of the value.
public struct LatencyHistogram: Hashable, Sendable {
    private var buckets: [UInt32] = Self.none
    private var sum = Duration.zero

    /// The number of recorded values.
    public private(set) var count: UInt64 = 0

    /// The smallest recorded value; nil if no value was recorded.
    public private(set) var min: Duration?

    /// The largest recorded value; nil if no value was recorded.
    public private(set) var max: Duration?

    private static let none = [UInt32](repeating: 0, count: Bucket.count)

    /// Creates a histogram without values.
    public init() {}

    /// The mean of the recorded values; nil if no value was recorded.
    public var mean: Duration? { count == 0 ? nil : sum / Double(count) }

    /// Records a value. A negative value counts as zero. The time is short and independent of the value. No memory is
    /// allocated, unless the histogram was copied since the last call. A bucket counts at most 2³² − 1 values.
    public mutating func record(_ value: Duration) {
        let value = Swift.min(Swift.max(value, .zero), Bucket.limit)
        let index = Bucket.index(of: value)
        if buckets[index] < .max { buckets[index] += 1 }
        count += 1
        sum += value
        min = Swift.min(min ?? value, value)
        max = Swift.max(max ?? value, value)
    }

    /// Returns the value that a given share of the recorded values does not exceed, by the nearest-rank method.
    ///
    /// - Parameter quantile: The share, for example 0.5 for the median or 0.99 for the 99th percentile. 0 or less
    ///   returns the minimum, 1 or more the maximum.
    /// - Returns: The value; nil if no value was recorded.
    public func value(atQuantile quantile: Double) -> Duration? {
        guard let min, let max else { return nil }
        guard quantile > 0 else { return min }
        guard quantile < 1 else { return max }
        let total = buckets.reduce(UInt64(0)) { $0 + UInt64($1) }
        let rank = UInt64((quantile * Double(total)).rounded(.up))
        var passed: UInt64 = 0
        for (index, count) in buckets.enumerated() where count > 0 {
            passed += UInt64(count)
            if passed >= rank { return value(ofBucket: index) }
        }
        return max
    }

    /// Returns the value that represents a bucket: its middle, limited to the recorded minimum and maximum.
    private func value(ofBucket index: Int) -> Duration {
        Swift.max(min ?? .zero, Swift.min(max ?? .zero, Bucket.middle(of: index)))
    }

    /// Returns the values recorded since `earlier`, an older copy of this histogram, with their counts. The values are
    /// sorted and have the precision of the histogram.
    package func values(since earlier: LatencyHistogram) -> [(value: Duration, count: UInt32)] {
        zip(buckets, earlier.buckets).enumerated().compactMap { index, counts in
            counts.0 > counts.1 ? (value(ofBucket: index), counts.0 - counts.1) : nil
        }
    }

    /// Returns a copy that shares no storage, so that the next recording allocates no memory.
    func separateCopy() -> LatencyHistogram {
        var copy = self
        copy.buckets = buckets.map(\.self)
        return copy
    }
}

extension LatencyHistogram: CustomStringConvertible {
    /// The count, the minimum, three quantiles and the maximum in whole microseconds, on one line.
    public var description: String {
        guard let min, let max else { return "count 0" }
        let quantiles = [0.5, 0.9, 0.99].map { value(atQuantile: $0) ?? max }
        let values = zip(["min", "p50", "p90", "p99", "max"], [min] + quantiles + [max])
        return (["count \(count)"] + values.map { "\($0) \($1.nanoseconds / 1000) us" }).joined(separator: ", ")
    }
}

extension LatencyHistogram {
    /// The bucket of a value. It consists of the position of the highest bit of the value in nanoseconds, and the next
    /// five bits.
    enum Bucket {
        /// The positions of the highest bit that have buckets, from 512 ns to just below 2⁴² ns.
        private static let octaves = 9...41
        private static let detailBits = 5

        static let count = octaves.count << detailBits

        /// The largest value that has a bucket: 2⁴² − 1 ns, about 73 minutes.
        static let limit = Duration.nanoseconds(1 << (octaves.upperBound + 1) - 1)

        /// Returns the bucket of a value up to the limit.
        static func index(of value: Duration) -> Int {
            let nanoseconds = Swift.max(value.nanoseconds, 1 << octaves.lowerBound)
            let octave = Int64.bitWidth - 1 - nanoseconds.leadingZeroBitCount
            let detail = Int(nanoseconds >> (octave - detailBits)) & (1 << detailBits - 1)
            return (octave - octaves.lowerBound) << detailBits | detail
        }

        /// Returns the middle of a bucket. It differs from each value of the bucket by at most half the width, 1/64 of
        /// the smallest value.
        static func middle(of index: Int) -> Duration {
            let octave = octaves.lowerBound + index >> detailBits
            let width = Int64(1) << (octave - detailBits)
            let detail = Int64(index & (1 << detailBits - 1))
            return .nanoseconds(Int64(1) << octave + detail * width + width / 2)
        }
    }
}

/// The recent status changes of a target, and whether the target flaps. Pure; the time is a parameter.
struct FlapCounter: Sendable {
    /// The maximum number of remembered changes.
    static let limit = 100

    /// The times of the changes, oldest first.
    private var changes: [Duration] = []
    private var status: NetworkReachabilityStatus?
    private(set) var isFlapping = false

    /// Processes the status of the latest evaluation. The first status is not a change.
    mutating func take(_ status: NetworkReachabilityStatus, at now: @autoclosure () -> Duration) {
        guard status != self.status else { return }
        defer { self.status = status }
        guard self.status != nil else { return }
        let now = now()
        forget(at: now)
        if changes.count == Self.limit { changes.removeFirst() }
        changes.append(now)
        if changes.count >= NetworkPath.flappingChanges { isFlapping = true }
    }

    /// Removes changes that are older than the window.
    mutating func forget(at now: Duration) {
        let old = changes.prefix { now - $0 >= NetworkPath.flappingWindow }.count
        if old > 0 { changes.removeFirst(old) }
        if changes.isEmpty { isFlapping = false }
    }

    /// The number of changes within the window.
    var count: Int { changes.count }

    /// The time at which flapping ends if no other change follows; nil if the target does not flap.
    var end: Duration? { isFlapping ? changes.last.map { $0 + NetworkPath.flappingWindow } : nil }
}
