package import LinuxSupport
import ReachabilityLedger

/// Writes notifications of the outages of this machine.
package struct NotificationWriter: NotificationWriting {
    /// The name of this machine.
    let host: String
    let snapshot: @Sendable () -> MonitoringService.Snapshot
    /// An outage by its id, as the interface tells it; nil where nothing is known of it.
    let outage: @Sendable (String) -> JSONObject?
    /// Who began outages, by their ids, where that is known.
    let actors: @Sendable ([String]) -> [String: ActingProcess]

    /// So many outages are told whole; the rest by the names of their targets.
    static let outageLimit = 50

    package init(
        host: String,
        snapshot: @escaping @Sendable () -> MonitoringService.Snapshot,
        outage: @escaping @Sendable (String) -> JSONObject?,
        actors: @escaping @Sendable ([String]) -> [String: ActingProcess] = { _ in [:] }
    ) {
        (self.host, self.snapshot, self.outage, self.actors) = (host, snapshot, outage, actors)
    }

    /// What a webhook is sent.
    package func object(_ notification: Notification, for notifier: String) -> JSONObject {
        let (incident, now) = (notification.incident, snapshot())
        let end = incident.end
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", notification.id)
        object.add("event", notification.event.rawValue)
        object.add("notifier", notifier)
        object.add("host", host)
        object.add("time", time(now.now, now))
        object.add("delayed", notification.isDelayed)
        object.add("text", text(notification))
        object.add("incident", incident.id)
        object.add("attribution", incident.state.attribution.rawValue)
        object.add("cause", incident.state.cause?.rawValue)
        object.add("reason", incident.reason)
        object.add("start", time(incident.start, now))
        object.add("end", end.map { time($0, now).text })
        object.add("ending", incident.ending?.rawValue)
        object.add("durationMilliseconds", ((end ?? now.now) - incident.start).roundedMilliseconds)
        let actor = actor(of: incident)
        if let actor { object.add("actor", actor.object) } else { object.add("actor", String?.none) }
        object.add("targets", incident.members.map(\.target))
        object.add("outages", incident.members.prefix(Self.outageLimit).compactMap { outage($0.outage) })
        object.add("kind", "notification")
        return object
    }

    /// One sentence for people: `box: internet cannot be reached, us.link (noCarrier), since 2026-11-24T20:15:02.204Z`. What strangers
    /// wrote is made safe to show.
    package func text(_ notification: Notification) -> String {
        let (incident, now) = (notification.incident, snapshot())
        let reason = incident.reason.map { " (\($0))" } ?? ""
        let since = time(incident.start, now).text
        let length = ((incident.end ?? now.now) - incident.start).people
        let why = "\(incident.state)\(reason)"
        let (state, still) =
            switch incident.state.attribution {
            case .up: ("is degraded", "is still degraded")
            case .unknown: ("is not observed", "is still not observed")
            case .us, .upstream, .them: ("cannot be reached", "still cannot be reached")
            }
        let what: String
        switch notification.event {
        case .began: what = "\(state), \(why),"
        case .refined: what = "\(state), it is now \(why),"
        case .digest: what = "\(still) after \(length), \(why),"
        case .ended:
            let end = incident.ending == .unknown ? "it is not known when it ended" : "over after \(length)"
            return "\(host): \(names(incident)): \(end), \(why), from \(since)".printable
        }
        return "\(host): \(names(incident)) \(what) since \(since)".printable
    }

    /// Everything of it as names and values, in the order of the documentation. What is not known is empty.
    package func fields(_ notification: Notification, for notifier: String) -> [(name: String, value: String)] {
        let (incident, now) = (notification.incident, snapshot())
        let end = incident.end
        return [
            ("EVENT", notification.event.rawValue), ("ID", notification.id), ("NOTIFIER", notifier), ("HOST", host),
            ("INCIDENT", incident.id), ("TARGET", incident.members[0].target),
            ("TARGETS", lines(incident.members.map(\.target))),
            ("OUTAGE", incident.members[0].outage), ("ATTRIBUTION", incident.state.attribution.rawValue),
            ("CAUSE", incident.state.cause?.rawValue ?? ""), ("REASON", incident.reason ?? ""),
            ("START", time(incident.start, now).text), ("END", end.map { time($0, now).text } ?? ""),
            ("ENDING", incident.ending?.rawValue ?? ""),
            ("DURATION_MS", String(((end ?? now.now) - incident.start).roundedMilliseconds)),
            ("ACTOR", actor(of: incident)?.text ?? ""),
            ("DELAYED", notification.isDelayed ? "true" : "false"), ("TEXT", text(notification)),
        ]
    }

    /// Who began it, where that is known: its first outage tells.
    private func actor(of incident: Incident) -> ActingProcess? {
        let outage = incident.members[0].outage
        return actors([outage])[outage]
    }

    func time(_ instant: LedgerInstant, _ snapshot: MonitoringService.Snapshot) -> Timestamp {
        Timestamp(real: snapshot.calendar.wall(at: instant))
    }

    private func names(_ incident: Incident) -> String {
        few(incident.members.map(\.target), of: incident.members.count)
    }
}

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
