import LinuxSupport
package import ReachabilityService

extension MetricsText {
    /// How it goes with those who are told; nothing where nobody is.
    package mutating func add(_ all: [NotifierStatus]) {
        if all.isEmpty { return }
        let total = "reachability_notifications_total"
        begin(total, .counter, "Attempts to tell somebody, by result: taken, to be made again, given up.")
        for status in all {
            let results = [
                ("delivered", status.delivered), ("postponed", status.postponed), ("refused", status.refused),
            ]
            for (result, count) in results {
                add(total, [("name", status.name), ("result", result)], String(count))
            }
        }
        let pending = "reachability_notifications_pending"
        begin(pending, .gauge, "What is due and was not told yet.")
        for status in all { add(pending, [("name", status.name)], String(status.pending)) }
    }
}
