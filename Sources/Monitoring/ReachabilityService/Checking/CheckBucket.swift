import LinuxSupport
package import ReachabilityLedger

/// What the checks of a target came to within a time: how many, why they failed, and how long answers took. Two are merged into one without
/// loss, so hours are made of minutes.
///
/// Latencies are counted in bins, eight to each doubling from 1 µs on: what is read from them is off by less than 5 %.
package struct CheckBucket: Hashable, Sendable {
    /// When it begins: a multiple of its length.
    package let start: LedgerInstant
    package let length: Duration
    package private(set) var count = 0
    /// Of those that were not good, by reason.
    package private(set) var failures: [String: Int] = [:]
    /// By bin.
    private(set) var bins: [UInt8: Int] = [:]
    package private(set) var fastest: Duration?
    package private(set) var slowest: Duration?

    /// Of so long a time each bucket is that is kept for 14 days, and that is kept as long as anything is.
    package static let short = Duration.seconds(300)
    package static let long = Duration.seconds(3600)

    /// The bucket of a moment, empty.
    package init(at instant: LedgerInstant, length: Duration = Self.short) {
        (start, self.length) = (instant - instant.remainder(of: length), length)
    }

    package mutating func add(_ finding: CheckFinding) {
        count += 1
        if !finding.isGood { failures[finding.observation.reason, default: 0] += 1 }
        guard let latency = finding.latency else { return }
        bins[Self.bin(of: latency), default: 0] += 1
        fastest = min(fastest ?? latency, latency)
        slowest = max(slowest ?? latency, latency)
    }

    /// Adds what another one has, whenever it was.
    package mutating func merge(_ other: CheckBucket) {
        count += other.count
        failures.merge(other.failures) { $0 + $1 }
        bins.merge(other.bins) { $0 + $1 }
        fastest = [fastest, other.fastest].compactMap(\.self).min()
        slowest = [slowest, other.slowest].compactMap(\.self).max()
    }

    /// What a share of the answers took at most; nil where there was none.
    ///
    /// - Parameter share: 0.5 for the median.
    package func latency(_ share: Double) -> Duration? {
        guard let fastest, let slowest else { return nil }
        let wanted = max(1, Int((share * Double(bins.values.reduce(0, +))).rounded(.up)))
        var seen = 0
        for (bin, count) in bins.sorted(by: { $0.key < $1.key }) {
            seen += count
            if seen >= wanted { return min(max(Self.middle(of: bin), fastest), slowest) }
        }
        return slowest
    }

    // MARK: Bins

    private static let perDoubling = 8

    static func bin(of latency: Duration) -> UInt8 {
        // Half an hour is as good as for ever.
        let microseconds = min(max(1, latency.ledgerNanoseconds / 1000), 1 << 31)
        let doublings = Int64.bitWidth - 1 - microseconds.leadingZeroBitCount
        // Between two powers of two by eight steps of the same size: a line instead of the logarithm.
        let step = ((microseconds - (1 << doublings)) * Int64(perDoubling)) >> doublings
        return UInt8(clamping: doublings * perDoubling + Int(step))
    }

    /// In the middle of what a bin holds.
    static func middle(of bin: UInt8) -> Duration {
        let (doublings, step) = Int(bin).quotientAndRemainder(dividingBy: perDoubling)
        let base = Int64(1000) << doublings
        return .nanoseconds(base + base * Int64(2 * step + 1) / Int64(2 * perDoubling))
    }
}

/// As a text, for the file: `count;fastest;slowest;reason=n,...;bin=n,...`, times in nanoseconds.
extension CheckBucket {
    var text: String {
        let failures = failures.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ",")
        let bins = bins.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ",")
        let times = [fastest, slowest].map { $0.map { String($0.ledgerNanoseconds) } ?? "" }
        return [String(count), times[0], times[1], failures, bins].joined(separator: ";")
    }

    /// Nil for a text that makes no sense.
    init?(start: LedgerInstant, length: Duration, text: String) {
        let fields = text.split(at: ";", omittingEmptySubsequences: false)
        guard fields.count == 5, let count = Self.number(fields[0]) else { return nil }
        (self.start, self.length, self.count) = (start, length, count)
        fastest = Int64(fields[1]).map { .nanoseconds($0) }
        slowest = Int64(fields[2]).map { .nanoseconds($0) }
        for (key, number) in Self.pairs(fields[3]) { failures[key] = number }
        for (key, number) in Self.pairs(fields[4]) { if let bin = UInt8(key) { bins[bin] = number } }
    }

    private static func pairs(_ text: Substring) -> [(String, Int)] {
        text.split(at: ",").compactMap { pair in
            let parts = pair.split(at: "=")
            guard parts.count == 2, let number = number(parts[1]) else { return nil }
            return (String(parts[0]), number)
        }
    }

    /// A number of checks. An hour has fewer than the bound, and sums of any number of hours fit.
    private static func number(_ text: Substring) -> Int? {
        Int(text).flatMap { 0...1_000_000_000 ~= $0 ? $0 : nil }
    }
}

/// What the checks of all targets came to, for the metrics, the history and those who ask. Thread-safe.
package final class CheckLog: Sendable {
    /// Of one target, since this run began.
    package struct Totals: Sendable {
        /// How many, by the place where it broke, or `works`.
        package fileprivate(set) var places: [String: UInt64] = [:]
        /// How many took no longer than each of ``CheckLog/bounds``, and how many there were.
        package fileprivate(set) var durations = [UInt64](repeating: 0, count: CheckLog.bounds.count)
        package fileprivate(set) var count: UInt64 = 0
        package fileprivate(set) var sum = Duration.zero
    }

    private struct Record: Sendable {
        var totals = Totals()
        /// The oldest first.
        var buckets: [CheckBucket] = []
        /// Since when something of them may not be written.
        var unwritten: LedgerInstant?
        /// The latest first.
        var latest: [CheckStatus] = []
    }

    /// Of the histogram.
    package static let bounds: [Duration] = [
        .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(50), .milliseconds(100),
        .milliseconds(500),
        .seconds(1), .milliseconds(2500), .seconds(5),
    ]
    /// So many results and buckets of a target are in memory.
    private static let latestLimit = 10
    private static let bucketLimit = 12

    private let records = Locked<[String: Record]>([:])

    package init() {}

    func note(_ status: CheckStatus, of target: String) {
        let duration = status.finding.latency ?? status.ended - status.begun
        records.withLock { records in
            var record = records[target] ?? Record()
            record.totals.places[status.finding.observation.place, default: 0] += 1
            for (index, bound) in Self.bounds.enumerated() where duration <= bound {
                record.totals.durations[index] += 1
            }
            record.totals.count += 1
            record.totals.sum += duration
            record.latest.insert(status, at: 0)
            if record.latest.count > Self.latestLimit { record.latest.removeLast() }
            let bucket = CheckBucket(at: status.ended)
            if record.buckets.last?.start != bucket.start {
                record.buckets.append(bucket)
                // What could not be written for so long is let go of.
                if record.buckets.count > Self.bucketLimit { record.buckets.removeFirst() }
            }
            record.buckets[record.buckets.count - 1].add(status.finding)
            record.unwritten = record.unwritten ?? bucket.start
            records[target] = record
        }
    }

    package func totals(of target: String) -> Totals? { records.withLock { $0[target]?.totals } }

    /// The latest results, the latest first.
    package func latest(of target: String) -> [CheckStatus] { records.withLock { $0[target]?.latest ?? [] } }

    /// Those of this run that are in memory, the oldest first.
    package func buckets(of target: String) -> [CheckBucket] { records.withLock { $0[target]?.buckets ?? [] } }

    /// What is not in the file yet, whole buckets; from then on it counts as written.
    func takeUnwritten() -> [(target: String, bucket: CheckBucket)] {
        records.withLock { records in
            var found: [(target: String, bucket: CheckBucket)] = []
            for (target, record) in records {
                guard let since = record.unwritten else { continue }
                found += record.buckets.filter { $0.start >= since }.map { (target, $0) }
                records[target]?.unwritten = nil
            }
            return found
        }
    }

    /// These could not be written.
    func putBack(_ buckets: [(target: String, bucket: CheckBucket)]) {
        records.withLock { records in
            for (target, bucket) in buckets {
                guard let record = records[target] else { continue }
                records[target]?.unwritten = min(record.unwritten ?? bucket.start, bucket.start)
            }
        }
    }
}
