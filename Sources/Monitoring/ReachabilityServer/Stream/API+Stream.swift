import LinuxSupport
import NIOHTTP1
import NetworkReachability
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Every event from now on, or from where the client was.
    func stream(_ query: Query, _ request: WebRequest) throws(Problem) -> WebAnswer {
        try feed.answer(query, request) {
            let snapshot = service.snapshot
            return .init(snapshot.books.lastNumber) { status(of: snapshot) }
        }
    }
}

extension EventFeed {
    /// That of a service, which it follows.
    convenience init(_ service: MonitoringService, ring: (UInt64) -> EventRing = { EventRing(after: $0) }) {
        self.init(
            epoch: String(service.start.nanoseconds, radix: 36),
            ring: ring(service.snapshot.books.lastNumber),
            newest: { service.snapshot.books.lastNumber },
            schedule: { service.clock.monitor.schedule(after: $0, on: $1, $2) }
        )
        keep(service.addListener { [weak self] events in self?.send(events, service.snapshot) })
    }

    private func send(_ events: [ServiceEvent], _ snapshot: MonitoringService.Snapshot) {
        send(
            events.map { event in
                let position = StreamPosition(epoch: epoch, number: event.number)
                let object = snapshot.object(of: event, at: position)
                return EventRing.Entry(event.kind.name, position, object, line: snapshot.line(of: event))
            },
            ofTargets: snapshot.books.accounts.count
        )
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
