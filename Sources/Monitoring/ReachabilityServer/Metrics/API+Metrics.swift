import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension API {
    /// What Prometheus scrapes. Times are exact at the scrape: an outage shorter than the pause between two scrapes is in them.
    func metrics(_ request: WebRequest) -> WebAnswer {
        var text = MetricsText(.init(request))
        let snapshot = service.snapshot
        addTargets(snapshot, to: &text)
        addOutages(snapshot, to: &text)
        addChecks(snapshot, to: &text)
        addService(snapshot, to: &text)
        return text.answer
    }

    private func addTargets(_ snapshot: MonitoringService.Snapshot, to text: inout MetricsText) {
        let seconds = "reachability_target_seconds_total"
        text.begin(seconds, .counter, "Time of each target by its state since the service began, exact at the scrape.")
        for target in snapshot.books.targets {
            guard let books = snapshot.books.accounts[target] else { continue }
            for account in LedgerAccount.allCases {
                let total = books.total(account, at: snapshot.now)
                let told = counters.value(target, since: books.start, account, total)
                text.add(seconds, [("target", target), ("state", account.rawValue)], told.decimalSeconds)
            }
        }
        let state = "reachability_target_state"
        text.begin(state, .gauge, "1 for the state each target is in, 0 for the others.")
        for target in snapshot.books.targets {
            let current = snapshot.books.accounts[target]?.ledger.current.state.account
            for account in LedgerAccount.allCases {
                text.add(state, [("target", target), ("state", account.rawValue)], account == current ? "1" : "0")
            }
        }
        text.beginDegraded()
        for target in snapshot.books.targets {
            text.addDegraded(target, snapshot.books.accounts[target]?.ledger.current.state)
        }
    }

    private func addOutages(_ snapshot: MonitoringService.Snapshot, to text: inout MetricsText) {
        let outages = "reachability_outages_total"
        text.begin(outages, .counter, "Outages that are over, since the service began.")
        for target in snapshot.books.targets {
            let counts = snapshot.books.accounts[target]?.outageCounts ?? [:]
            let kinds = counts.map { ($0.attribution.rawValue, $0.cause?.rawValue ?? "", $1) }
            for (attribution, cause, count) in kinds.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
                let labels = [("target", target), ("attribution", attribution), ("cause", cause)]
                text.add(outages, labels, String(count))
            }
        }
    }

    /// Nothing where nothing is checked.
    private func addChecks(_ snapshot: MonitoringService.Snapshot, to text: inout MetricsText) {
        let totals = snapshot.books.targets.compactMap { name in service.checkLog.totals(of: name).map { (name, $0) } }
        guard !totals.isEmpty else { return }
        let checks = "reachability_checks_total"
        text.begin(checks, .counter, "Checks since the service began, by where it broke, or works.")
        for (name, total) in totals {
            for (place, count) in total.places.sorted(by: { $0.key < $1.key }) {
                text.add(checks, [("target", name), ("result", place)], String(count))
            }
        }
        let duration = "reachability_check_duration_seconds"
        text.begin(duration, .histogram, "How long targets took to answer, and checks that got no answer to end.")
        for (name, total) in totals {
            for (bound, count) in zip(CheckLog.bounds, total.durations) {
                text.add("\(duration)_bucket", [("target", name), ("le", Self.bound(bound))], String(count))
            }
            text.add("\(duration)_bucket", [("target", name), ("le", "+Inf")], String(total.count))
            text.add("\(duration)_sum", [("target", name)], total.sum.decimalSeconds)
            text.add("\(duration)_count", [("target", name)], String(total.count))
        }
    }

    /// As OpenMetrics has numbers in labels: with a point.
    private static func bound(_ duration: Duration) -> String {
        let text = duration.decimalSeconds
        return text.contains(".") ? text : text + ".0"
    }

    private func addHistory(to text: inout MetricsText) {
        guard let status = history?.status else { return }
        text.begin("reachability_history_fault", .gauge, "1 for what keeps the history from being written.")
        for kind in HistoryFault.Kind.allCases {
            let value = status.fault?.kind == kind ? "1" : "0"
            text.add("reachability_history_fault", [("fault", kind.rawValue)], value)
        }
        text.add(
            "reachability_history_pending",
            .gauge,
            "Events that are not on the disk yet.",
            String(status.pending)
        )
        text.add(
            "reachability_history_written_total",
            .counter,
            "Events that are on the disk.",
            String(status.written)
        )
        text.add(
            "reachability_history_lost_total",
            .counter,
            "Events that were let go of unwritten.",
            String(status.lost)
        )
    }

    private func addService(_ snapshot: MonitoringService.Snapshot, to text: inout MetricsText) {
        text.begin("reachability_build_info", .gauge, "1, with the version of the service.")
        text.add("reachability_build_info", [("version", version)], "1")
        text.add(
            "reachability_start_time_seconds",
            .gauge,
            "When the service began, since 1970.",
            snapshot.calendar.wall(at: service.start).decimalSeconds
        )
        text.add("reachability_targets", .gauge, "Targets that are watched.", String(snapshot.books.accounts.count))
        text.add(statistics())
        addHistory(to: &text)
        if let reloader { text.add(reloader.status) }
        text.addCertificate(access)
        text.add(notifiers())
        text.addProcess()
    }
}

extension MetricsText {
    private static let degraded = "reachability_target_degraded"

    mutating func beginDegraded() {
        begin(Self.degraded, .gauge, "1 while a target is up but works only in part, such as over one address family.")
    }

    mutating func addDegraded(_ target: String, _ state: TargetState?) {
        add(Self.degraded, [("target", target)], state?.isDegraded == true ? "1" : "0")
    }
}
