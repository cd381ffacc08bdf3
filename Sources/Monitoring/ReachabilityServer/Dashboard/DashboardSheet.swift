import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// What the pages show, as tables for spreadsheets.
enum DashboardSheet: String {
    case outages = "outages.csv"
    case availability = "availability.csv"
}

extension API {
    func sheet(_ sheet: DashboardSheet, _ query: Query) throws(Problem) -> WebAnswer {
        let snapshot = service.snapshot
        let csv =
            switch sheet {
            case .outages: try outageSheet(snapshot)
            case .availability: try availabilitySheet(try BarWindow(query, snapshot, since: service.start), snapshot)
            }
        try query.checkNames()
        var answer = WebAnswer(type: CSV.contentType, Array(csv.text.utf8))
        answer.headers.append(("Cache-Control", "no-store"))
        answer.headers.append(("Content-Disposition", "attachment; filename=\"\(sheet.rawValue)\""))
        return answer
    }

    /// The latest thousand outages.
    private func outageSheet(_ snapshot: MonitoringService.Snapshot) throws(Problem) -> CSV {
        var csv = CSV([
            "id", "target", "attribution", "cause", "start", "end", "durationMilliseconds",
            "uncertaintyMilliseconds",
        ])
        for explained in try outages(limit: 1000, snapshot) {
            let outage = explained.outage
            let state = outage.deciding(at: snapshot.now).state
            csv.add([
                outage.id, outage.target, state.attribution.rawValue, state.cause?.rawValue ?? "",
                snapshot.time(outage.start).text, outage.end.map { snapshot.time($0).text } ?? "",
                "\(outage.duration(at: snapshot.now).roundedMilliseconds)", "\(outage.uncertainty.roundedMilliseconds)",
            ])
        }
        return csv
    }

    /// The seconds of each day of UTC and target, from the day in which a window begins.
    private func availabilitySheet(_ window: BarWindow, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> CSV {
        let begin = DayCalendar.number(of: window.from, snapshot)
        let from = snapshot.calendar.instant(atWall: .seconds(begin * 86400))
        var csv = CSV(["target", "day"] + LedgerAccount.allCases.map(\.rawValue))
        for target in snapshot.books.targets {
            for day in try days(of: target, from: from, snapshot) {
                let seconds = LedgerAccount.allCases.map { day.availability.duration($0).decimalSeconds }
                csv.add([target, day.name] + seconds.map { "\($0)" })
            }
        }
        return csv
    }
}
