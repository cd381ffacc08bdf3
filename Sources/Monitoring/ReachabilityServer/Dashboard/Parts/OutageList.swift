import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// Outages one below the other, each with a link to all that is known of it.
struct OutageList {
    let outages: [Outage]

    func html(_ snapshot: MonitoringService.Snapshot) -> HTML {
        if outages.isEmpty { return "<p class=\"empty\">No outage is known.</p>" }
        return "<ol class=\"list\">\(outages.map { item($0, snapshot) })</ol>"
    }

    private func item(_ outage: Outage, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let deciding = outage.deciding(at: snapshot.now)
        let isOpen = outage.end == nil
        let words =
            isOpen ? Words.sentence(deciding.state, of: outage.target) : Words.past(deciding.state, of: outage.target)
        let length: HTML =
            isOpen ? snapshot.lasting(since: outage.start) + " so far" : "\(outage.duration(at: snapshot.now).units)"
        return """
            <li><a href="\(DashboardPage.outage(outage.id).link)">\(Sign.svg(deciding.state.account))<b>\(words)</b>\
            <span class="long">\(length)</span>\
            <span class="soft"><bdi>\(outage.target)</bdi> · \(Words.name(deciding.state.account)) · \
            \(snapshot.time(outage.start))</span></a></li>
            """
    }
}
