package import LinuxSupport
import ReachabilityLedger

/// What an Alertmanager is told of outages.
extension NotificationWriter {
    /// An alert for each target.
    package func alerts(_ notifications: [Notification], patience: Duration) -> [JSONObject] {
        let now = snapshot()
        var (over, lasting) = ([JSONObject](), [JSONObject]())
        for notification in notifications {
            let incident = notification.incident
            let actors = self.actors(incident.members.map(\.outage))
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
                    end: member.end ?? now.now + patience,
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
        names.add("alertname", labels.attribution == .up ? "ReachabilityDegraded" : "ReachabilityOutage")
        names.add("target", member.target)
        names.add("attribution", labels.attribution.rawValue)
        names.add("cause", labels.cause?.rawValue ?? "")
        names.add("host", host)
        var words = JSONObject()
        words.add("summary", text(notification))
        words.add("reason", member.reason ?? "")
        words.add("outage", member.outage)
        words.add("actor", actor?.text ?? "")
        words.add("incident", notification.incident.id)
        var alert = JSONObject()
        alert.add("labels", names)
        alert.add("annotations", words)
        alert.add("startsAt", time(member.start, now))
        // One that ends when it begins is refused.
        alert.add("endsAt", time(max(end, member.start + .milliseconds(1)), now))
        return alert
    }
}
