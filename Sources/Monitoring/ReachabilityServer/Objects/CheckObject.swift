import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension MonitoringService.Snapshot {
    /// What a check found.
    func object(of check: CheckStatus) -> JSONObject {
        var object = JSONObject()
        object.add("place", check.finding.observation.place)
        object.add("reason", check.finding.observation.reason)
        object.add("confidence", check.finding.confidence)
        object.add("sentence", check.finding.sentence)
        object.add("time", time(check.ended))
        object.add("durationMilliseconds", (check.ended - check.begun).roundedMilliseconds)
        object.add("latencyMicroseconds", optional: check.finding.latency.map { Int($0.nanoseconds / 1000) })
        return object
    }
}
