import LinuxSupport
import Netlink

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

    /// The least value recorded; nil when there is none.
    public private(set) var min: Duration?

    /// The greatest value recorded; nil when there is none.
    public private(set) var max: Duration?

    private static let none = [UInt32](repeating: 0, count: Bucket.count)

    /// A histogram without values.
    public init() {}

    /// The mean of the values recorded; nil when there is none.
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
