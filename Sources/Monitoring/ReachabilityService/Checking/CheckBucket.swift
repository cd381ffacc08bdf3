import LinuxSupport
package import ReachabilityChecks
package import ReachabilityLedger

/// Statistics of the checks of a target within a period: the number of checks, the reasons of failures, and a histogram of latencies.
///
/// Buckets can be merged without loss, so buckets of five minutes are combined into hours.
///
/// The histogram has eight bins per doubling of the latency, starting at 1 µs. A latency that is read from it has an error below 5 %.
package struct CheckBucket: Hashable, Sendable {
    /// The start of the period, a multiple of its length.
    package let start: LedgerInstant
    package let length: Duration
    /// The number of checks that ended in the period.
    package private(set) var count = 0
    /// The number of failed checks by reason.
    package private(set) var failures: [String: Int] = [:]
    /// The number of latencies by bin.
    private(set) var bins: [UInt8: Int] = [:]
    /// The lowest latency; nil if no check was answered.
    package private(set) var fastest: Duration?
    /// The highest latency; nil if no check was answered.
    package private(set) var slowest: Duration?

    /// The echoes of bursts; nil without bursts.
    package private(set) var echoes: Echoes?

    /// The sums over all pings of the bursts in a period.
    package struct Echoes: Hashable, Sendable {
        package fileprivate(set) var sent = 0
        package fileprivate(set) var lost = 0
        /// The sum of the differences of consecutive round trips, in microseconds.
        fileprivate var differences = 0
        /// The number of these differences.
        fileprivate var pairs = 0

        /// The mean difference of consecutive round trips; nil if none is known.
        package var jitter: Duration? { pairs == 0 ? nil : .microseconds(differences / pairs) }
    }

    /// The length of a bucket that is stored for 14 days.
    package static let short = Duration.seconds(300)
    /// The length of a bucket that is stored as long as the rest of the history.
    package static let long = Duration.seconds(3600)

    /// Creates an empty bucket whose period contains an instant.
    package init(at instant: LedgerInstant, length: Duration = Self.short) {
        (start, self.length) = (instant - instant.remainder(of: length), length)
    }

    /// Adds the result of a check.
    ///
    /// - Parameter isMeasured: False if bursts measure the latency.
    package mutating func add(_ finding: CheckFinding, isMeasured: Bool = true) {
        count += 1
        if !finding.isGood { failures[finding.observation.reason, default: 0] += 1 }
        if isMeasured, let latency = finding.latency { add(latency) }
    }

    /// Adds the results of a burst.
    package mutating func add(_ burst: EchoBurst) {
        for latency in burst.roundTrips { add(latency) }
        let jitter = MeasurementWindow.jitter(burst.roundTrips)
        var sums = echoes ?? Echoes()
        (sums.sent, sums.lost) = (sums.sent + burst.sent, sums.lost + burst.lost)
        sums.differences += Int(jitter.sum.ledgerNanoseconds / 1000)
        sums.pairs += jitter.count
        echoes = sums
    }

    private mutating func add(_ latency: Duration) {
        bins[Self.bin(of: latency), default: 0] += 1
        fastest = min(fastest ?? latency, latency)
        slowest = max(slowest ?? latency, latency)
    }

    /// Adds the counts of another bucket, regardless of its period.
    package mutating func merge(_ other: CheckBucket) {
        count += other.count
        failures.merge(other.failures) { $0 + $1 }
        bins.merge(other.bins) { $0 + $1 }
        fastest = [fastest, other.fastest].compactMap(\.self).min()
        slowest = [slowest, other.slowest].compactMap(\.self).max()
        guard let more = other.echoes else { return }
        var sums = echoes ?? Echoes()
        (sums.sent, sums.lost) = (sums.sent + more.sent, sums.lost + more.lost)
        (sums.differences, sums.pairs) = (sums.differences + more.differences, sums.pairs + more.pairs)
        echoes = sums
    }

    /// Returns a quantile of the latencies; nil if no check was answered.
    ///
    /// - Parameter share: The quantile from 0 to 1; 0.5 is the median.
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
        // Latencies above 2^31 µs (about 36 minutes) are counted in the last bin.
        let microseconds = min(max(1, latency.ledgerNanoseconds / 1000), 1 << 31)
        let doublings = Int64.bitWidth - 1 - microseconds.leadingZeroBitCount
        // Between two powers of two the bins have equal width: a linear approximation of the logarithm.
        let step = ((microseconds - (1 << doublings)) * Int64(perDoubling)) >> doublings
        return UInt8(clamping: doublings * perDoubling + Int(step))
    }

    /// Returns the middle of the range of a bin.
    static func middle(of bin: UInt8) -> Duration {
        let (doublings, step) = Int(bin).quotientAndRemainder(dividingBy: perDoubling)
        let base = Int64(1000) << doublings
        return .nanoseconds(base + base * Int64(2 * step + 1) / Int64(2 * perDoubling))
    }
}

extension CheckBucket {
    /// The text that is stored in the history: `count;fastest;slowest;reason=n,...;bin=n,...`, with times in nanoseconds. With
    /// bursts, a field with the sent and the lost echoes, the sum of their differences in microseconds and the number of pairs follows.
    var text: String {
        let failures = failures.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ",")
        let bins = bins.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ",")
        let times = [fastest, slowest].map { $0.map { String($0.ledgerNanoseconds) } ?? "" }
        let sums = echoes.map { ["\($0.sent),\($0.lost),\($0.differences),\($0.pairs)"] } ?? []
        return ([String(count), times[0], times[1], failures, bins] + sums).joined(separator: ";")
    }

    /// Parses the text that is stored in the history. The result is nil for an invalid text.
    init?(start: LedgerInstant, length: Duration, text: String) {
        let fields = text.split(at: ";", omittingEmptySubsequences: false)
        guard 5...6 ~= fields.count, let count = Self.number(fields[0]) else { return nil }
        (self.start, self.length, self.count) = (start, length, count)
        (fastest, slowest) = (Self.latency(fields[1]), Self.latency(fields[2]))
        for (key, number) in Self.pairs(fields[3]) { failures[key] = number }
        for (key, number) in Self.pairs(fields[4]) { if let bin = UInt8(key) { bins[bin] = number } }
        guard fields.count == 6 else { return }
        let sums = fields[5].split(at: ",").compactMap { Self.number($0) }
        guard sums.count == 4 else { return }
        var echoes = Echoes()
        (echoes.sent, echoes.lost, echoes.differences, echoes.pairs) = (sums[0], sums[1], sums[2], sums[3])
        self.echoes = echoes
    }

    private static func pairs(_ text: Substring) -> [(String, Int)] {
        text.split(at: ",").compactMap { pair in
            let parts = pair.split(at: "=")
            guard parts.count == 2, let number = number(parts[1]) else { return nil }
            return (String(parts[0]), number)
        }
    }

    /// Parses a latency. A check takes less than a day, and the bound keeps the scale of a chart from overflowing.
    private static func latency(_ text: Substring) -> Duration? {
        Int64(text).flatMap { 0...86_400_000_000_000 ~= $0 ? .nanoseconds($0) : nil }
    }

    /// Parses a number of checks, or of microseconds. The bound is above those of an hour and keeps sums from overflowing.
    private static func number(_ text: Substring) -> Int? {
        Int(text).flatMap { 0...1_000_000_000_000 ~= $0 ? $0 : nil }
    }
}

/// The results of the checks of all targets, for the metrics, the history and the API. Thread-safe.
package final class CheckLog: Sendable {
    /// The sums of one target since this run began.
    package struct Totals: Sendable {
        /// The number of checks by the place of the failure; the key of successful checks is `works`.
        package fileprivate(set) var places: [String: UInt64] = [:]
        /// The cumulative histogram: the number of checks that took at most each of ``CheckLog/bounds``.
        package fileprivate(set) var durations = [UInt64](repeating: 0, count: CheckLog.bounds.count)
        /// The number of all checks.
        package fileprivate(set) var count: UInt64 = 0
        /// The total duration of all checks.
        package fileprivate(set) var sum = Duration.zero
    }

    private struct Record: Sendable {
        var totals = Totals()
        /// The buckets, oldest first.
        var buckets: [CheckBucket] = []
        /// The start of the oldest bucket that may not be written to the history; nil if all are written.
        var unwritten: LedgerInstant?
        /// The latest results, latest first.
        var latest: [CheckStatus] = []
    }

    /// The upper bounds of the histogram of durations.
    package static let bounds: [Duration] = [
        .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(50), .milliseconds(100),
        .milliseconds(500),
        .seconds(1), .milliseconds(2500), .seconds(5),
    ]
    /// The maximum number of results of a target in memory.
    private static let latestLimit = 10
    /// The maximum number of buckets of a target in memory.
    private static let bucketLimit = 12

    private let records = Locked<[String: Record]>([:])

    /// Adds the result of a check.
    ///
    /// - Parameter isMeasured: False if bursts measure the latency.
    func note(_ status: CheckStatus, of target: String, isMeasured: Bool = true) {
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
            Self.update(&record, at: status.ended) { $0.add(status.finding, isMeasured: isMeasured) }
            records[target] = record
        }
    }

    /// Adds the results of a burst.
    func note(_ burst: EchoBurst, of target: String, at now: LedgerInstant) {
        records.withLock { records in
            var record = records[target] ?? Record()
            Self.update(&record, at: now) { $0.add(burst) }
            records[target] = record
        }
    }

    private static func update(_ record: inout Record, at now: LedgerInstant, _ change: (inout CheckBucket) -> Void) {
        let bucket = CheckBucket(at: now)
        if record.buckets.last?.start != bucket.start {
            record.buckets.append(bucket)
            // The oldest bucket is dropped even if it could not be written.
            if record.buckets.count > bucketLimit { record.buckets.removeFirst() }
        }
        change(&record.buckets[record.buckets.count - 1])
        record.unwritten = record.unwritten ?? bucket.start
    }

    /// Returns the sums of a target; nil if it was not checked in this run.
    package func totals(of target: String) -> Totals? { records.withLock { $0[target]?.totals } }

    /// Returns the latest results of a target, latest first.
    package func latest(of target: String) -> [CheckStatus] { records.withLock { $0[target]?.latest ?? [] } }

    /// Returns the buckets of this run that are in memory, oldest first.
    package func buckets(of target: String) -> [CheckBucket] { records.withLock { $0[target]?.buckets ?? [] } }

    /// Returns the buckets that are not in the history, and marks them as written.
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

    /// Marks buckets as not written, because writing them failed.
    func putBack(_ buckets: [(target: String, bucket: CheckBucket)]) {
        records.withLock { records in
            for (target, bucket) in buckets {
                guard let record = records[target] else { continue }
                records[target]?.unwritten = min(record.unwritten ?? bucket.start, bucket.start)
            }
        }
    }
}
