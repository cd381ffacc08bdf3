import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// One target for those who have blackbox_exporter: its metrics, by its names. Nothing is sent for it, and only what is configured can be
    /// asked for, so nobody gets anywhere through it.
    func probe(_ query: Query, _ request: WebRequest) throws(Problem) -> WebAnswer {
        guard let name = query.text("target") else {
            throw Problem(.badRequest, "target is the name of a target: /probe?target=internet")
        }
        try query.checkNames()
        let snapshot = service.snapshot
        guard let account = snapshot.books.accounts[name] else { throw Self.noTarget(name) }
        let current = account.ledger.current
        var text = MetricsText(.init(request))
        let isUp = current.state.account == .up
        text.add("probe_success", .gauge, "1 where the target is up.", isUp ? "1" : "0")
        text.begin("reachability_target_state", .gauge, "1 for the state the target is in, 0 for the others.")
        for state in LedgerAccount.allCases {
            let labels = [("target", name), ("state", state.rawValue)]
            text.add("reachability_target_state", labels, state == current.state.account ? "1" : "0")
        }
        text.beginDegraded()
        text.addDegraded(name, current.state)
        text.add(
            "reachability_target_since_seconds",
            .gauge,
            "Since when it is so, since 1970.",
            snapshot.calendar.wall(at: current.start).decimalSeconds
        )
        return text.answer
    }
}
