import LinuxPrimitives
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// Tells an Alertmanager (API v2, `POST /api/v2/alerts`): an alert for each target, told again each minute while it lasts, and that it
/// is over. What it has not heard of for four minutes it takes to be over, so it may be away, or be started anew: it hears all that
/// still matters.
struct AlertmanagerSender: NotificationSender {
    let web: WebSender
    let writer: NotificationWriter

    /// How much further the end of an alert that lasts is put off each time.
    static let patience: Duration = .seconds(240)
    /// So many alerts go into one request.
    static let batch = 200

    init(web: WebSender, writer: NotificationWriter) {
        (self.web, self.writer) = (web, writer)
    }

    var host: String? { web.host }
    var repetition: Duration? { .seconds(60) }

    /// The address of its interface, made of the one that is configured.
    static func address(_ url: String) -> String {
        var url = url
        while url.hasSuffix("/") { url.removeLast() }
        return url.hasSuffix("/api/v2/alerts") ? url : url + "/api/v2/alerts"
    }

    func send(_ notifications: [Notification]) async throws(DeliveryFailure) {
        var alerts = self.alerts(notifications)[...]
        while !alerts.isEmpty {
            let bodies = alerts.prefix(Self.batch).map { String(decoding: $0.bytes, as: UTF8.self) }
            let body = "[\(bodies.joined(separator: ","))]"
            try await web.send(.POST, [("Content-Type", "application/json")], Array(body.utf8))
            alerts = alerts.dropFirst(Self.batch)
        }
    }

    /// What lasts comes last, for the same labels may end and begin again.
    func alerts(_ notifications: [Notification]) -> [JSONObject] {
        let now = writer.snapshot()
        var (over, lasting) = ([JSONObject](), [JSONObject]())
        for notification in notifications {
            let incident = notification.incident
            let actors = writer.actors(incident.members.map(\.outage))
            for member in incident.members {
                if let told = notification.previous, told != member.state.labels {
                    let end = member.end ?? incident.since
                    over.append(alert(member, told, notification, actors[member.outage], end: min(end, now.now), now))
                }
                let alert = alert(
                    member,
                    member.state.labels,
                    notification,
                    actors[member.outage],
                    end: member.end ?? now.now + Self.patience,
                    now
                )
                if member.end == nil { lasting.append(alert) } else { over.append(alert) }
            }
        }
        return over + lasting
    }

    private func alert(
        _ member: Incident.Member,
        _ labels: Incident.Labels,
        _ notification: Notification,
        _ actor: ActingProcess?,
        end: LedgerInstant,
        _ now: MonitoringService.Snapshot
    ) -> JSONObject {
        var names = JSONObject()
        names.add("alertname", "ReachabilityOutage")
        names.add("target", member.target)
        names.add("attribution", labels.attribution.rawValue)
        names.add("cause", labels.cause?.rawValue ?? "")
        names.add("host", writer.host)
        var words = JSONObject()
        words.add("summary", writer.text(notification))
        words.add("reason", member.reason ?? "")
        words.add("outage", member.outage)
        words.add("actor", actor?.text ?? "")
        words.add("incident", notification.incident.id)
        var alert = JSONObject()
        alert.add("labels", names)
        alert.add("annotations", words)
        alert.add("startsAt", writer.time(member.start, now))
        // One that ends when it begins is refused.
        alert.add("endsAt", writer.time(max(end, member.start + .milliseconds(1)), now))
        return alert
    }
}
