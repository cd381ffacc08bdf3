import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// The forms a report is to be had in.
enum ReportForm: String, CaseIterable {
    case text, json, csv
}

extension API {
    /// One outage to hand on: as text for a mail, as a table of its intervals, or as it is in the list.
    func report(_ id: String, _ query: Query, _ request: WebRequest) throws(Problem) -> WebAnswer {
        let form = try query.word("format", ReportForm.self) ?? .text
        try query.checkNames()
        let snapshot = service.snapshot
        let explained = try explained(id, snapshot)
        let answer =
            switch form {
            case .text:
                WebAnswer(
                    type: Representation.text.contentType,
                    Array((snapshot.item(of: explained).report + "\n").utf8)
                )
            case .json: WebAnswer(type: Representation.json.contentType, snapshot.item(of: explained).object.bytes)
            case .csv: WebAnswer(type: CSV.contentType, Array(snapshot.table(of: explained.outage).text.utf8))
            }
        return answer.tagged(for: request)
    }
}

extension MonitoringService.Snapshot {
    /// A row for each interval of an outage.
    fileprivate func table(of outage: Outage) -> CSV {
        var csv = CSV([
            "outage", "target", "start", "end", "durationMilliseconds", "uncertaintyMilliseconds", "attribution",
            "cause", "reason",
        ])
        for interval in outage.intervals {
            csv.add([
                outage.id, outage.target, time(interval.start).text, interval.end.map { time($0).text } ?? "",
                "\(interval.duration(at: now).roundedMilliseconds)", "\(interval.uncertainty.roundedMilliseconds)",
                interval.state.attribution.rawValue, interval.state.cause?.rawValue ?? "", interval.reason ?? "",
            ])
        }
        return csv
    }
}
