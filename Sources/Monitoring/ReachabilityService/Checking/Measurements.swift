import LinuxSupport
import NetworkReachability
import ReachabilityChecks
import ReachabilityLedger

/// A quantity that is measured over a window of the latest checks or bursts.
package enum Measure: String, CaseIterable, Sendable {
    /// The median of the latencies.
    case latency
    /// The share of the checks that failed, or of the echoes that were not answered.
    case loss
    /// The mean difference of two consecutive latencies.
    case jitter

    /// The reason of a target that exceeds the threshold.
    fileprivate var reason: String { "\(rawValue)High" }

    /// Returns a value for people, such as `12ms` or `2.5%`.
    ///
    /// - Parameter value: Nanoseconds, or a share from 0 to 1.
    fileprivate func text(_ value: Double) -> String {
        self == .loss
            ? "\(Int64((value * 10_000).rounded()).decimal(places: 2))%" : Duration.nanoseconds(Int64(value)).people
    }
}

/// A threshold of a target. Above it, a target that is up is degraded.
package struct Threshold: Hashable, Sendable {
    /// The maximum value: nanoseconds, or a share from 0 to 1.
    package let limit: Double
    /// The length of the window.
    package let window: Duration
}

/// The echoes that are sent to measure loss and jitter, in addition to the checks.
package struct BurstSettings: Hashable, Sendable {
    /// The number of echoes in a burst.
    package var count = 20
    /// The time from the start of one burst to the start of the next.
    package var interval = Duration.seconds(300)
}

/// The measurements of one target within a window. A value type without clock.
///
/// A value is known if the measurements cover at least 40 % of its window. Two bursts cover about half of the shortest window.
struct MeasurementWindow: Sendable {
    private struct Sample {
        let instant: LedgerInstant
        let latencies: [Duration]
        let answered: Int
        let lost: Int
        /// The sum and the number of the differences of consecutive latencies.
        let jitter: (sum: Duration, count: Int)
    }

    /// The maximum number of checks or bursts.
    static let sampleLimit = 1000

    /// The window of each measure.
    private let windows: [Measure: Duration]
    private let thresholds: [Measure: Threshold]
    private var samples: [Sample] = []
    /// The values after the last measurement: nanoseconds, or a share.
    private(set) var values: [Measure: Double] = [:]

    /// Creates the measurements of a target. The result is nil if its settings have neither thresholds nor bursts.
    init?(_ settings: CheckSettings) {
        thresholds = settings.thresholds
        var windows = thresholds.mapValues(\.window)
        if let burst = settings.burst {
            for measure in Measure.allCases where windows[measure] == nil { windows[measure] = burst.interval * 2 }
        }
        guard !windows.isEmpty else { return nil }
        self.windows = windows
    }

    /// Discards all measurements, because there is a new path.
    mutating func reset() { (samples, values) = ([], [:]) }

    /// Discards the measurements since an instant, because an outage began there.
    mutating func discard(from instant: LedgerInstant) { samples.removeAll { $0.instant >= instant } }

    /// Adds one check or one burst. The latency of a check that was answered may not be known.
    mutating func add(_ latencies: [Duration], answered: Int? = nil, lost: Int, at now: LedgerInstant) {
        var jitter = Self.jitter(latencies)
        // Single latencies are compared with that of the check before.
        if latencies.count == 1, let last = samples.last, last.latencies.count == 1 {
            jitter = Self.jitter(last.latencies + latencies)
        }
        let answered = answered ?? latencies.count
        samples.append(Sample(instant: now, latencies: latencies, answered: answered, lost: lost, jitter: jitter))
        let longest = windows.values.max() ?? .zero
        let first = samples.firstIndex { now - $0.instant <= longest } ?? samples.endIndex
        samples.removeFirst(max(first, samples.count - Self.sampleLimit))
        update(at: now)
    }

    private mutating func update(at now: LedgerInstant) {
        values = [:]
        for (measure, window) in windows { values[measure] = value(of: measure, over: window, at: now) }
    }

    /// Returns the sum of the differences of consecutive latencies, and their number.
    static func jitter(_ latencies: [Duration]) -> (sum: Duration, count: Int) {
        let pairs = zip(latencies, latencies.dropFirst())
        return (pairs.reduce(.zero) { $0 + max($1.0, $1.1) - min($1.0, $1.1) }, max(0, latencies.count - 1))
    }

    private func value(of measure: Measure, over window: Duration, at now: LedgerInstant) -> Double? {
        let recent = samples.drop { now - $0.instant > window }
        guard let first = recent.first, now - first.instant >= window * 2 / 5 else { return nil }
        switch measure {
        case .latency:
            let latencies = recent.flatMap(\.latencies).sorted()
            return latencies.isEmpty ? nil : Double(latencies[latencies.count / 2].nanoseconds)
        case .loss:
            let (lost, answered) = (recent.reduce(0) { $0 + $1.lost }, recent.reduce(0) { $0 + $1.answered })
            return lost + answered == 0 ? nil : Double(lost) / Double(lost + answered)
        case .jitter:
            let (sum, count) = recent.reduce((Duration.zero, 0)) { ($0.0 + $1.jitter.sum, $0.1 + $1.jitter.count) }
            return count == 0 ? nil : Double(sum.nanoseconds) / Double(count)
        }
    }

    /// Returns the finding, or a degraded one if a threshold is exceeded.
    mutating func judged(_ finding: CheckFinding, at now: LedgerInstant) -> CheckFinding {
        update(at: now)
        guard finding.isGood, !finding.isDegraded else { return finding }
        for measure in Measure.allCases {
            guard let value = values[measure], let threshold = thresholds[measure], value > threshold.limit else {
                continue
            }
            let what = measure == .latency ? "median latency" : measure.rawValue
            let sentence = """
                the \(what) of the last \(DurationText.text(threshold.window)) is \(measure.text(value)), above \
                \(measure.text(threshold.limit))
                """
            return finding.degraded(measure.reason, sentence)
        }
        return finding
    }
}

extension MonitoringService {
    /// Returns the measurements of the targets that have thresholds or bursts: nanoseconds, or a share from 0 to 1.
    package var measurements: [String: [Measure: Double]] {
        state.withLock { $0.checks.compactMapValues { $0.measurements?.values } }
    }

    /// Sends a burst to a target and adds its results.
    ///
    /// - Returns: The time until the next burst; nil if the path has changed.
    func measure(_ name: String) async -> Duration? {
        let known = state.withLock { state in
            state.checks[name].flatMap { watch in watch.burst.map { (watch.prober, watch.turn, $0) } }
        }
        guard let (prober, turn, settings) = known else { return nil }
        let begun = clock.monitor.boot
        let burst = await prober.burst(count: settings.count)
        if let burst { take(burst, of: name, turn) }
        return Task.isCancelled ? nil : max(.zero, settings.interval - (clock.monitor.boot - begun))
    }

    /// Adds the results of a burst.
    ///
    /// - Parameter turn: The number of the path along which it was sent. Results of an older path are discarded.
    func take(_ burst: EchoBurst, of name: String, _ turn: UInt64) {
        record { state, now in
            guard state.checks[name]?.turn == turn else { return [] }
            checkLog.note(burst, of: name, at: now)
            // An outage is recorded as such. Its lost echoes would degrade the target after its return.
            if state.accounting.accounts[name]?.ledger.outage == nil {
                state.checks[name]?.measurements?.add(burst.roundTrips, lost: burst.lost, at: now)
            }
            return []
        }
    }
}

extension CheckSettings {
    /// Reads the thresholds and the bursts of a target, and collects problems.
    ///
    /// - Parameter isHost: True if the target has a host.
    mutating func readMeasurements(_ table: TableReader, isHost: Bool) {
        if let ping = table.table("ping") {
            var settings = BurstSettings()
            settings.count = ping.integer("count", 2...100) ?? settings.count
            settings.interval = ping.duration("interval", atLeast: .seconds(1)) ?? settings.interval
            let least = EchoBurst.timeLimit * settings.count
            if settings.interval < least || settings.interval > .seconds(86_400) {
                ping.report("interval", "must be from \(DurationText.text(least)) to 1d for \(settings.count) echoes")
            }
            if !isHost { table.report("ping", "requires host") }
            ping.finish()
            burst = settings
        }
        for measure in Measure.allCases {
            guard let own = table.table(measure.rawValue) else { continue }
            defer { own.finish() }
            for key in ["above", "over"] where !own.has(key) { own.report(key, "missing") }
            let limit =
                measure == .loss
                ? own.share("above") : own.duration("above", atLeast: .zero).map { Double($0.nanoseconds) }
            let window = own.duration("over", atLeast: .seconds(60))
            let pause = burst?.interval ?? interval
            let least = max(pause * 2, .seconds(60))
            let most = min(pause * MeasurementWindow.sampleLimit, .seconds(86_400))
            if let window, window < least || window > most {
                let limits = "\(DurationText.text(least)) to \(DurationText.text(most))"
                own.report("over", "must be from \(limits), not \(DurationText.text(window))")
            }
            if let limit, let window { thresholds[measure] = Threshold(limit: limit, window: window) }
        }
    }
}

extension TableReader {
    /// Reads a share such as `"2.5%"`, and returns it as a number from 0 to 1.
    fileprivate func share(_ key: String) -> Double? {
        guard let text = text(key) else { return nil }
        let number = text.dropLast().utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        if text.hasSuffix("%"), number, let share = Double(text.dropLast()), share < 100 { return share / 100 }
        report(key, "must be a share such as \"2.5%\", below 100 %, not \"\(text)\"")
        return nil
    }
}
