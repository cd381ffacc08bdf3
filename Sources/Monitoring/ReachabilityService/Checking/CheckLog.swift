import LinuxSupport
import ReachabilityLedger

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
