import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension MonitoringService.Snapshot {
    /// For example `2026-11-21T08:15:30.123Z outageBegan internet: us.link (noCarrier)`.
    func line(of event: ServiceEvent) -> String {
        let target = event.target.map { " \($0.printable)" } ?? ""
        let what: String? =
            switch event.kind {
            case .intervalClosed(let interval), .intervalOpened(let interval), .intervalRefined(let interval):
                words(interval)
            case .outageBegan(let outage), .outageRefined(let outage): words(outage.deciding(at: now))
            case .outageEnded(let outage):
                "\(words(outage.deciding(at: now))) for \(outage.duration(at: now).people)"
            case .explained: nil
            case .noted(let note): "\(note.author.printable) on \(note.outage)"
            case .actorFound(let actor): actor.process.text
            case .maintenancePlanned(let planned): planned.id
            case .maintenanceCancelled(let id): id
            case .clockStepped(let step): "by \(step.roundedMilliseconds)ms"
            case .resumed(let sleep): "after \(sleep.people)"
            }
        return "\(time(event.instant).text) \(event.kind.name)\(target)\(what.map { ": \($0)" } ?? "")"
    }

    private func words(_ interval: LedgerInterval) -> String {
        "\(interval.state)\(interval.reason.map { " (\($0.printable))" } ?? "")"
    }
}
