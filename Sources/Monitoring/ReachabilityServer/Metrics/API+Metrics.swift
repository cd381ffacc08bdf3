import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Answers with the metrics for Prometheus. Times are exact at the scrape, so they include outages that lie between two scrapes.
    func metrics(_ query: Query) -> WebAnswer {
        var text = MetricsText(.init(query.request))
        let snapshot = service.snapshot
        addTargets(snapshot, to: &text)
        addOutages(snapshot, to: &text)
        addChecks(snapshot, to: &text)
        addSettings(snapshot, to: &text)
        addService(snapshot, to: &text)
        return text.answer
    }

    private func addTargets(_ snapshot: MonitoringService.Snapshot, to text: inout MetricsText) {
        let seconds = "reachability_target_seconds_total"
        text.begin(
            seconds,
            .counter,
            "Time of each target by state since the start of the service, in seconds, exact at the scrape."
        )
        for target in snapshot.accounting.targets {
            guard let own = snapshot.accounting.accounts[target] else { continue }
            for account in LedgerAccount.allCases {
                let total = own.total(account, at: snapshot.now)
                let time = counters.value(target, since: own.start, account, total)
                text.add(seconds, [("target", target), ("state", account.rawValue)], time.decimalSeconds)
            }
        }
        text.beginState("1 for the state each target is in, 0 for the others.")
        for target in snapshot.accounting.targets {
            text.addState(target, snapshot.accounting.accounts[target]?.ledger.current.state)
        }
        text.beginDegraded()
        for target in snapshot.accounting.targets {
            text.addDegraded(target, snapshot.accounting.accounts[target]?.ledger.current.state)
        }
    }

    private func addOutages(_ snapshot: MonitoringService.Snapshot, to text: inout MetricsText) {
        let outages = "reachability_outages_total"
        text.begin(outages, .counter, "Outages that ended since the start of the service.")
        for target in snapshot.accounting.targets {
            let counts = snapshot.accounting.accounts[target]?.outageCounts ?? [:]
            let kinds = counts.map { ($0.attribution.rawValue, $0.cause?.rawValue ?? "", $1) }
            for (attribution, cause, count) in kinds.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
                let labels = [("target", target), ("attribution", attribution), ("cause", cause)]
                text.add(outages, labels, count)
            }
        }
    }

    /// Adds the metrics of checks. Without checks there are none.
    private func addChecks(_ snapshot: MonitoringService.Snapshot, to text: inout MetricsText) {
        let totals = snapshot.accounting.targets.compactMap { name in
            service.checkLog.totals(of: name).map { (name, $0) }
        }
        guard !totals.isEmpty else { return }
        let checks = "reachability_checks_total"
        text.begin(checks, .counter, "Checks since the start of the service, by failure point.")
        for (name, total) in totals {
            for (place, count) in total.places.sorted(by: { $0.key < $1.key }) {
                text.add(checks, [("target", name), ("result", place)], count)
            }
        }
        let duration = "reachability_check_duration_seconds"
        text.begin(duration, .histogram, "Duration of checks in seconds: the latency, or the time until a failure.")
        for (name, total) in totals where snapshot.pushes[name] == nil {
            for (bound, count) in zip(CheckLog.bounds, total.durations) {
                text.add("\(duration)_bucket", [("target", name), ("le", Self.bound(bound))], count)
            }
            text.add("\(duration)_bucket", [("target", name), ("le", "+Inf")], total.count)
            text.add("\(duration)_sum", [("target", name)], total.sum.decimalSeconds)
            text.add("\(duration)_count", [("target", name)], total.count)
        }
        let ends = totals.compactMap { name, _ in
            service.checkLog.latest(of: name).first?.finding.certificateEnd.map { (name, $0) }
        }
        let end = "reachability_target_certificate_end_timestamp_seconds"
        if !ends.isEmpty {
            text.begin(end, .gauge, "End of the validity of the certificate that the target showed last.")
        }
        for (name, time) in ends { text.add(end, [("target", name)], time.components.seconds) }
    }

    /// The metrics of measurements, with the divisor of their values.
    private static let measures: [(measure: Measure, name: String, help: String, divisor: Double)] = [
        (.latency, "reachability_target_latency_seconds", "Median latency of a target with thresholds or bursts.", 1e9),
        (.loss, "reachability_target_loss_ratio", "Share of lost pings or failed checks, from 0 to 1.", 1),
        (.jitter, "reachability_target_jitter_seconds", "Mean difference of two consecutive latencies.", 1e9),
    ]

    /// Adds the groups, the measurements and the pushes of targets. A target without them has no series.
    private func addSettings(_ snapshot: MonitoringService.Snapshot, to text: inout MetricsText) {
        let grouped = snapshot.accounting.targets.compactMap { name in
            snapshot.targets[name]?.group.map { (name, $0) }
        }
        if !grouped.isEmpty { text.begin("reachability_target_group", .gauge, "1 for the group of a target.") }
        for (name, group) in grouped {
            text.add("reachability_target_group", [("target", name), ("group", group)], true)
        }
        let measured = service.measurements.sorted { $0.key < $1.key }
        for (measure, name, help, divisor) in Self.measures {
            let values = measured.compactMap { target, values in values[measure].map { (target, $0 / divisor) } }
            if !values.isEmpty { text.begin(name, .gauge, help) }
            for (target, value) in values { text.add(name, [("target", target)], value) }
        }
        let pushed = snapshot.pushes.sorted { $0.key < $1.key }.compactMap { name, watch in
            watch.last.map { (name, snapshot.calendar.wall(at: $0.instant).decimalSeconds) }
        }
        let last = "reachability_push_last_timestamp_seconds"
        if !pushed.isEmpty { text.begin(last, .gauge, "Time of the last push, in seconds since 1970.") }
        for (name, time) in pushed { text.add(last, [("target", name)], time) }
    }

    /// Returns a bucket bound in seconds with a decimal point, as OpenMetrics requires.
    private static func bound(_ duration: Duration) -> String {
        let text = duration.decimalSeconds
        return text.contains(".") ? text : text + ".0"
    }

    private func addHistory(to text: inout MetricsText) {
        guard let status = history?.status else { return }
        text.begin("reachability_history_fault", .gauge, "1 for the current fault of the history.")
        for kind in HistoryError.Kind.allCases {
            text.add("reachability_history_fault", [("fault", kind.rawValue)], status.fault?.kind == kind)
        }
        text.add("reachability_history_pending", .gauge, "Events that are not on the disk yet.", status.pending)
        text.add("reachability_history_written_total", .counter, "Events that are on the disk.", status.written)
        text.add("reachability_history_lost_total", .counter, "Events that were dropped.", status.lost)
    }

    private func addService(_ snapshot: MonitoringService.Snapshot, to text: inout MetricsText) {
        text.add(version: version, of: "service", start: snapshot.calendar.wall(at: service.start))
        text.add("reachability_targets", .gauge, "Number of targets.", snapshot.accounting.accounts.count)
        text.add(statistics())
        addHistory(to: &text)
        if let reloader { text.add(reloader.status) }
        text.addCertificate(access)
        text.add(notifiers())
        text.addProcess()
    }
}

extension MetricsText {
    private static let state = "reachability_target_state"
    private static let degraded = "reachability_target_degraded"

    mutating func beginState(_ help: String) { begin(Self.state, .gauge, help) }

    mutating func addState(_ target: String, _ state: TargetState?) {
        for account in LedgerAccount.allCases {
            add(Self.state, [("target", target), ("state", account.rawValue)], account == state?.account)
        }
    }

    mutating func beginDegraded() {
        begin(Self.degraded, .gauge, "1 while a target is up but works only partly, such as over one address family.")
    }

    mutating func addDegraded(_ target: String, _ state: TargetState?) {
        add(Self.degraded, [("target", target)], state?.isDegraded == true)
    }
}

extension API {
    /// Answers with the metrics of one configured target, with the names that blackbox_exporter uses. No packet is sent.
    func probe(_ query: Query) throws(Problem) -> WebAnswer {
        guard let name = query.text("target") else {
            throw Problem(.badRequest, "the parameter target is required, for example /probe?target=internet")
        }
        try query.checkNames()
        let snapshot = service.snapshot
        guard let account = snapshot.accounting.accounts[name] else { throw Self.noTarget(name) }
        let current = account.ledger.current
        var text = MetricsText(.init(query.request))
        text.add("probe_success", .gauge, "1 if the target is up.", current.state.account == .up)
        text.beginState("1 for the state the target is in, 0 for the others.")
        text.addState(name, current.state)
        text.beginDegraded()
        text.addDegraded(name, current.state)
        let since = snapshot.calendar.wall(at: current.start).decimalSeconds
        text.add(
            "reachability_target_since_seconds",
            .gauge,
            "Start of the current state, in seconds since 1970.",
            since
        )
        return text.answer
    }
}

/// A store of counter values that prevents counters of time from decreasing. Thread-safe.
///
/// The service evaluates an event shortly after the kernel received it. The time in between is then moved from the old state to the new
/// one. A scrape in this interval has still counted it for the old state. Prometheus interprets a decreasing counter as a restart, so the
/// counter keeps its largest value until the exact value exceeds it.
final class MonotonicCounters: Sendable {
    private struct Key: Hashable {
        let target: String
        /// A target that is removed and added again has a new account.
        let start: LedgerInstant
        let account: LedgerAccount
    }

    private let largest = Locked<[Key: Duration]>([:])

    /// Returns the maximum of the value and all earlier values of the counter.
    func value(_ target: String, since start: LedgerInstant, _ account: LedgerAccount, _ value: Duration) -> Duration {
        let key = Key(target: target, start: start, account: account)
        return largest.withLock { known in
            let value = max(value, known[key] ?? .zero)
            known[key] = value
            return value
        }
    }
}
