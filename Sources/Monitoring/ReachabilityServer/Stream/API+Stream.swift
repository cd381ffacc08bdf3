import LinuxSupport
import NIOHTTP1
import NetworkReachability
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Answers with the event stream.
    func stream(_ query: Query) throws(Problem) -> WebAnswer {
        try feed.stream(query) {
            let snapshot = service.snapshot
            return .init(snapshot.accounting.lastNumber) { status(of: snapshot) }
        }
    }
}

extension EventFeed {
    /// Creates the event feed of a service.
    convenience init(_ service: MonitoringService, ring: (UInt64) -> EventRing = { EventRing(after: $0) }) {
        self.init(
            epoch: String(service.start.nanoseconds, radix: 36),
            ring: ring(service.snapshot.accounting.lastNumber),
            newest: { service.snapshot.accounting.lastNumber },
            schedule: { service.clock.monitor.schedule(after: $0, on: $1, $2) }
        )
        retain(service.addListener { [weak self] events in self?.send(events, service.snapshot) })
    }

    private func send(_ events: [ServiceEvent], _ snapshot: MonitoringService.Snapshot) {
        send(
            events.map { event in
                let position = StreamPosition(epoch: epoch, number: event.number)
                let object = snapshot.object(of: event, at: position)
                return EventRing.Entry(event.kind.name, position, object, line: snapshot.line(of: event))
            },
            ofTargets: snapshot.accounting.accounts.count
        )
    }
}

extension ServiceEvent.Kind {
    /// The name of the event in the API.
    var name: String {
        switch self {
        case .ledger(.closed): "intervalClosed"
        case .ledger(.opened): "intervalOpened"
        case .ledger(.refined): "intervalRefined"
        case .ledger(.outageBegan): "outageBegan"
        case .ledger(.outageRefined): "outageRefined"
        case .ledger(.outageEnded): "outageEnded"
        case .explained: "explained"
        case .noted: "noted"
        case .actorFound: "actorFound"
        case .pushed: "pushed"
        case .maintenancePlanned: "maintenancePlanned"
        case .maintenanceCancelled: "maintenanceCancelled"
        case .clockStepped: "clockStepped"
        case .resumed: "resumed"
        }
    }
}

extension MonitoringService.Snapshot {
    /// Returns the JSON object of an event.
    func object(of event: ServiceEvent, at position: StreamPosition) -> JSONObject {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", position.description)
        object.add("event", event.kind.name)
        object.add("time", Timestamp(real: calendar.wall(at: event.instant)))
        object.add("target", event.target)
        switch event.kind {
        case .ledger(.closed(let interval)), .ledger(.opened(let interval)), .ledger(.refined(let interval)):
            object.add("interval", self.object(of: interval))
        case .ledger(.outageBegan(let outage)), .ledger(.outageRefined(let outage)),
            .ledger(.outageEnded(let outage)):
            var explained = ExplainedOutage(outage, accounting.accounts[outage.target])
            explained.notes = accounting.notes(on: outage.id)
            explained.actors = accounting.actors(of: outage.id)
            object.add("outage", item(of: explained).object)
        case .explained(let record): object.add("evidence", self.object(of: record, phase: nil))
        case .noted(let note):
            object.add("outageID", note.outage)
            object.add("note", self.object(of: note))
        case .actorFound(let actor):
            object.add("outageID", actor.outage)
            object.add("intervalStart", time(actor.interval))
            object.add("actor", actor.process.object)
        case .pushed(let push): object.add("push", self.object(of: push))
        case .maintenancePlanned(let planned): object.add("maintenance", planned.object)
        case .maintenanceCancelled(let id): object.add("maintenanceID", id)
        case .clockStepped(let step): object.add("stepMilliseconds", step.roundedMilliseconds)
        case .resumed(let sleep): object.add("sleepMilliseconds", sleep.roundedMilliseconds)
        }
        object.add("kind", "event")
        return object
    }

    /// Returns a line such as `2026-11-21T08:15:30.123Z outageBegan internet: us.link (noCarrier)`.
    func line(of event: ServiceEvent) -> String {
        let target = event.target.map { " \($0.printable)" } ?? ""
        let what: String? =
            switch event.kind {
            case .ledger(.closed(let interval)), .ledger(.opened(let interval)), .ledger(.refined(let interval)):
                text(of: interval)
            case .ledger(.outageBegan(let outage)), .ledger(.outageRefined(let outage)):
                text(of: outage.deciding(at: now))
            case .ledger(.outageEnded(let outage)):
                "\(text(of: outage.deciding(at: now))) for \(outage.duration(at: now).people)"
            case .explained: nil
            case .noted(let note): "\(note.author.printable) on \(note.outage)"
            case .actorFound(let actor): actor.process.text
            case .pushed(let push):
                [push.isUp ? "up" : "down", push.message].compactMap(\.self).joined(separator: ", ")
            case .maintenancePlanned(let planned): planned.id
            case .maintenanceCancelled(let id): id
            case .clockStepped(let step): "by \(step.roundedMilliseconds)ms"
            case .resumed(let sleep): "after \(sleep.people)"
            }
        return "\(time(event.instant).text) \(event.kind.name)\(target)\(what.map { ": \($0)" } ?? "")"
    }

    private func text(of interval: LedgerInterval) -> String {
        "\(interval.state)\(interval.reason.map { " (\($0.printable))" } ?? "")"
    }
}
