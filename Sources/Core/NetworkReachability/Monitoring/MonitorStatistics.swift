import LinuxSupport
import Netlink

/// Counters of a monitor since its creation. They only grow, and do not include other processes.
///
/// All managers of a network namespace share one monitor, so these are the numbers of all of them.
public struct MonitorStatistics: Hashable, Sendable {
    /// Messages received from the kernel.
    public internal(set) var messages: UInt64 = 0

    /// How many of ``messages`` were about routes that concern no target, and so led to no evaluation. With a filter in the
    /// kernel few of them are heard at all.
    public internal(set) var irrelevantMessages: UInt64 = 0

    /// How often the kernel said that messages were lost for want of buffer space (ENOBUFS, `netlink(7)`). Nothing is
    /// lost for good: each loss leads to an evaluation.
    public internal(set) var overruns: UInt64 = 0

    /// Messages of other processes, which are ignored. They do not count among ``messages``.
    public internal(set) var foreignMessages: UInt64 = 0

    /// How often targets were evaluated because of an event, a timer or a new listener.
    public internal(set) var evaluations: UInt64 = 0

    /// How many targets those evaluations were about, each counted every time.
    public internal(set) var evaluatedTargets: UInt64 = 0

    /// The number of route lookups (RTM_GETROUTE, `rtnetlink(7)`), for evaluations and for callers of managers.
    public internal(set) var lookups: UInt64 = 0

    /// Calls of listeners that have returned, and elements handed to asynchronous sequences.
    public internal(set) var listenerCalls: UInt64 = 0

    /// From the moment the process noticed a notification, when the thread that waits for the kernel woke, to the moment a
    /// listener was called because of it, on its own queue where it has one; for an asynchronous sequence, to the moment the
    /// element was ready for its reader. Several notifications that led to one evaluation count from the first.
    ///
    /// Calls that no notification led to are not measured: the first of a listener, and those after a timer or an answer of
    /// the name service.
    public internal(set) var lag = LatencyHistogram()

    /// Nothing done yet.
    package init() {}

    mutating func count(_ burst: EventBurst) {
        messages += UInt64(burst.messages)
        overruns += UInt64(burst.overruns)
        foreignMessages += UInt64(burst.foreign)
    }
}

extension MonitorStatistics: CustomStringConvertible {
    /// Every number with its name, on one line.
    public var description: String {
        """
        messages \(messages), irrelevant \(irrelevantMessages), overruns \(overruns), foreign \(foreignMessages), \
        evaluations \(evaluations), targets \(evaluatedTargets), lookups \(lookups), listener calls \(listenerCalls), \
        lag: \(lag)
        """
    }
}

/// How long something took, for many times it happened: counted in buckets whose width grows with the value, so that small
/// delays are distinguished as well as large ones, in a fixed 4 KiB.
///
/// A quantile differs from the value it stands for by at most a 64th of it (1.6 %) between 1 µs and 1 h. Values below half a
/// microsecond are not distinguished there, and those above 73 minutes count as 73 minutes. Count, least, greatest and mean value
/// are exact. The layout is that of HDR histograms: 32 equal buckets for each doubling of the value.
public struct LatencyHistogram: Hashable, Sendable {
    private var buckets: [UInt32] = Self.none
    private var sum = Duration.zero

    /// How many values were recorded.
    public private(set) var count: UInt64 = 0

    /// The smallest recorded value; nil if there is none.
    public private(set) var min: Duration?

    /// The largest recorded value; nil if there is none.
    public private(set) var max: Duration?

    private static let none = [UInt32](repeating: 0, count: Bucket.count)

    /// A histogram without values.
    public init() {}

    /// The mean of the recorded values; nil if there is none.
    public var mean: Duration? { count == 0 ? nil : sum / Double(count) }

    /// Counts one value; a negative one counts as zero. Takes the same short time for every value, and allocates nothing
    /// unless the histogram was copied since. A bucket is full after 2³² − 1 values and counts no more.
    public mutating func record(_ value: Duration) {
        let value = Swift.min(Swift.max(value, .zero), Bucket.limit)
        let index = Bucket.index(of: value)
        if buckets[index] < .max { buckets[index] += 1 }
        count += 1
        sum += value
        min = Swift.min(min ?? value, value)
        max = Swift.max(max ?? value, value)
    }

    /// The value that a share of those recorded does not exceed: 0.5 is the median, 0.99 the 99th percentile (the nearest
    /// rank).
    ///
    /// - Parameter quantile: The share; 0 and less is the least value, 1 and more the greatest.
    /// - Returns: The value; nil when nothing was recorded.
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

    /// What stands for the values of a bucket: its middle, as far as such values were recorded.
    private func value(ofBucket index: Int) -> Duration {
        Swift.max(min ?? .zero, Swift.min(max ?? .zero, Bucket.middle(of: index)))
    }

    /// The values recorded since `earlier`, an older state of this histogram, each within the precision and in rising order,
    /// with how often.
    package func values(since earlier: LatencyHistogram) -> [(value: Duration, count: UInt32)] {
        zip(buckets, earlier.buckets).enumerated().compactMap { index, counts in
            counts.0 > counts.1 ? (value(ofBucket: index), counts.0 - counts.1) : nil
        }
    }

    /// A copy that shares nothing, so that the next value recorded here allocates nothing.
    func separateCopy() -> LatencyHistogram {
        var copy = self
        copy.buckets = buckets.map(\.self)
        return copy
    }
}

extension LatencyHistogram: CustomStringConvertible {
    /// The count, the extremes and three quantiles in whole microseconds, on one line.
    public var description: String {
        guard let min, let max else { return "count 0" }
        let quantiles = [0.5, 0.9, 0.99].map { value(atQuantile: $0) ?? max }
        let values = zip(["min", "p50", "p90", "p99", "max"], [min] + quantiles + [max])
        return (["count \(count)"] + values.map { "\($0) \($1.nanoseconds / 1000) us" }).joined(separator: ", ")
    }
}

extension LatencyHistogram {
    /// Which bucket a value belongs to: the position of its highest bit in nanoseconds, then the five bits after it.
    enum Bucket {
        /// The highest bits that are distinguished: from 512 ns to just below 2⁴² ns.
        private static let octaves = 9...41
        private static let detailBits = 5

        static let count = octaves.count << detailBits

        /// The greatest value there is a bucket for: 2⁴² − 1 ns, some 73 minutes.
        static let limit = Duration.nanoseconds(1 << (octaves.upperBound + 1) - 1)

        /// The bucket of a value up to the limit.
        static func index(of value: Duration) -> Int {
            let nanoseconds = Swift.max(value.nanoseconds, 1 << octaves.lowerBound)
            let octave = Int64.bitWidth - 1 - nanoseconds.leadingZeroBitCount
            let detail = Int(nanoseconds >> (octave - detailBits)) & (1 << detailBits - 1)
            return (octave - octaves.lowerBound) << detailBits | detail
        }

        /// At most half a width, a 64th of its least value, away from every value of the bucket.
        static func middle(of index: Int) -> Duration {
            let octave = octaves.lowerBound + index >> detailBits
            let width = Int64(1) << (octave - detailBits)
            let detail = Int64(index & (1 << detailBits - 1))
            return .nanoseconds(Int64(1) << octave + detail * width + width / 2)
        }
    }
}

/// How often a target's status changed lately, and whether that is too often. Pure: time is a parameter.
struct FlapCounter: Sendable {
    /// No more changes than these are remembered, however many there are.
    static let limit = 100

    /// When the status changed, oldest first.
    private var changes: [Duration] = []
    private var status: NetworkReachabilityStatus?
    private(set) var isFlapping = false

    /// Takes the status of the latest evaluation. The first one is no change.
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

    /// Forgets what is too long ago to count.
    mutating func forget(at now: Duration) {
        let old = changes.prefix { now - $0 >= NetworkPath.flappingWindow }.count
        if old > 0 { changes.removeFirst(old) }
        if changes.isEmpty { isFlapping = false }
    }

    /// The changes that count.
    var count: Int { changes.count }

    /// The time when flapping ends without another change; nil if the target does not flap.
    var end: Duration? { isFlapping ? changes.last.map { $0 + NetworkPath.flappingWindow } : nil }
}
