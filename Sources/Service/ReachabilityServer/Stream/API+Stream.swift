import LinuxPrimitives
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Every event from now on, or from where the client was.
    func stream(_ query: Query, _ request: WebRequest) throws(Problem) -> WebAnswer {
        let text = request.headers.first(name: "Last-Event-ID") ?? query.text("after")
        try query.checkNames()
        // A place that is none lies before a gap.
        let position = text.map { StreamPosition($0) ?? StreamPosition(epoch: "", number: 0) }
        var answer = WebAnswer(type: "text/event-stream")
        answer.headers.append(("Cache-Control", "no-store"))
        answer.stream = { [self] stream in feed.join(stream, after: position) { status(of: $0) } }
        return answer
    }
}

extension ServiceEvent.Kind {
    /// Its name in the stream.
    var name: String {
        switch self {
        case .intervalClosed: "intervalClosed"
        case .intervalOpened: "intervalOpened"
        case .intervalRefined: "intervalRefined"
        case .outageBegan: "outageBegan"
        case .outageRefined: "outageRefined"
        case .outageEnded: "outageEnded"
        case .explained: "explained"
        case .noted: "noted"
        case .actorFound: "actorFound"
        case .maintenancePlanned: "maintenancePlanned"
        case .maintenanceCancelled: "maintenanceCancelled"
        case .clockStepped: "clockStepped"
        case .resumed: "resumed"
        }
    }
}

extension MonitoringService.Snapshot {
    /// An event, with what it is about as the other answers have it.
    func object(of event: ServiceEvent, at position: StreamPosition) -> JSONObject {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", position.description)
        object.add("event", event.kind.name)
        object.add("time", Timestamp(real: calendar.wall(at: event.instant)))
        object.add("target", event.target)
        switch event.kind {
        case .intervalClosed(let interval), .intervalOpened(let interval), .intervalRefined(let interval):
            object.add("interval", self.object(of: interval))
        case .outageBegan(let outage), .outageRefined(let outage), .outageEnded(let outage):
            var explained = ExplainedOutage(outage, books.accounts[outage.target])
            explained.notes = books.notes(on: outage.id)
            explained.actors = books.actors(of: outage.id)
            object.add("outage", item(of: explained).object)
        case .explained(let record): object.add("evidence", self.object(of: record, phase: nil))
        case .noted(let note):
            object.add("outageID", note.outage)
            object.add("note", self.object(of: note))
        case .actorFound(let actor):
            object.add("outageID", actor.outage)
            object.add("intervalStart", time(actor.interval))
            object.add("actor", actor.process.object)
        case .maintenancePlanned(let planned): object.add("maintenance", planned.object)
        case .maintenanceCancelled(let id): object.add("maintenanceID", id)
        case .clockStepped(let step): object.add("stepMilliseconds", step.roundedMilliseconds)
        case .resumed(let sleep): object.add("sleepMilliseconds", sleep.roundedMilliseconds)
        }
        object.add("kind", "event")
        return object
    }
}
