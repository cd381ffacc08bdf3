package import LinuxSupport
import ReachabilityLedger

/// A formatter of notifications for the channels. Control characters in external texts are escaped.
package protocol NotificationWriting: Sendable {
    /// Returns the JSON object for a webhook.
    func object(_ notification: Notification, for notifier: String) -> JSONObject

    /// Returns the notification as one sentence.
    func text(_ notification: Notification) -> String

    /// Returns the notification as text for people.
    func message(_ notification: Notification) -> PlainMessage

    /// Returns the environment variables for programs, which are also the fields of the journal. Unknown values are empty.
    func fields(_ notification: Notification, for notifier: String) -> [(name: String, value: String)]

    /// Returns the alerts for an Alertmanager.
    ///
    /// Firing alerts come after resolved ones, because an alert can be resolved and fire again with the same labels.
    ///
    /// - Parameter lifetime: The time from now to the `endsAt` of a firing alert.
    func alerts(_ notifications: [Notification], lifetime: Duration) -> [JSONObject]
}

extension NotificationWriting {
    /// The maximum length of a variable, in bytes: a quarter of the kernel's limit MAX_ARG_STRLEN (`execve(2)`).
    private static var longestValue: Int { 32 << 10 }
    /// The maximum number of names in a sentence.
    private static var namesLimit: Int { 3 }

    /// Returns names separated by line feeds. Names that do not fit into an environment variable are omitted.
    package func lines(_ names: some Sequence<String>) -> String {
        var text = ""
        for name in names.lazy.map(\.printable) {
            if text.utf8.count + name.utf8.count >= Self.longestValue { break }
            text += text.isEmpty ? name : "\n" + name
        }
        return text
    }

    /// Returns the title and the text of the message for people as variables.
    package func messageFields(_ notification: Notification) -> [(name: String, value: String)] {
        let message = message(notification)
        return [("TITLE", message.title), ("MESSAGE", message.text)]
    }

    /// Returns the first three names and the number of the others, such as `a, b, c and 2 more`.
    ///
    /// - Parameter count: The total number of names.
    package func few(_ names: [String], of count: Int) -> String {
        let first = names.prefix(Self.namesLimit)
        let rest = count - first.count
        return first.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}

/// A formatter of notifications about the outages of this machine.
package struct NotificationWriter: NotificationWriting {
    /// The name of this machine.
    let host: String
    let outages: OutageReader
    /// The time zone of messages for people.
    let zone: LocalTime

    /// The maximum number of outages that a webhook object includes. Of further outages it includes only the names of the targets.
    static let outageLimit = 50

    package init(host: String, _ outages: OutageReader, zone: LocalTime = LocalTime()) {
        (self.host, self.outages, self.zone) = (host, outages, zone)
    }

    var snapshot: MonitoringService.Snapshot { outages.service.snapshot }

    package func object(_ notification: Notification, for notifier: String) -> JSONObject {
        let (incident, now) = (notification.incident, snapshot)
        let end = incident.end
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", notification.id)
        object.add("event", notification.event.rawValue)
        object.add("notifier", notifier)
        object.add("host", host)
        object.add("time", now.time(now.now))
        object.add("delayed", notification.isDelayed)
        object.add("text", text(notification))
        object.add("incident", incident.id)
        object.add("attribution", incident.state.attribution.rawValue)
        object.add("cause", incident.state.cause?.rawValue)
        object.add("reason", incident.reason)
        object.add("start", now.time(incident.start))
        object.add("end", end.map { now.time($0).text })
        object.add("ending", incident.ending?.rawValue)
        object.add("durationMilliseconds", ((end ?? now.now) - incident.start).roundedMilliseconds)
        let actor = actor(of: incident)
        if let actor { object.add("actor", actor.object) } else { object.add("actor", String?.none) }
        object.add("targets", incident.members.map(\.target))
        object.add("outages", outages.objects(incident.members.prefix(Self.outageLimit).map(\.outage), now))
        object.add("kind", "notification")
        return object
    }

    /// Returns a sentence such as `box: internet cannot be reached, us.link (noCarrier), since 2026-11-24T20:15:02.204Z`.
    package func text(_ notification: Notification) -> String {
        let (incident, now) = (notification.incident, snapshot)
        let reason = incident.reason.map { " (\($0))" } ?? ""
        let since = now.time(incident.start).text
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
        case .refined: what = "\(state), now \(why),"
        case .digest: what = "\(still) after \(length), \(why),"
        case .test: return "\(host): this is a test of the notifications".printable
        case .ended:
            let end = incident.ending == .unknown ? "ended at an unknown time" : "over after \(length)"
            return "\(host): \(names(incident)): \(end), \(why), from \(since)".printable
        }
        return "\(host): \(names(incident)) \(what) since \(since)".printable
    }

    /// Returns the fields in the order in which the documentation lists them.
    package func fields(_ notification: Notification, for notifier: String) -> [(name: String, value: String)] {
        let (incident, now) = (notification.incident, snapshot)
        let end = incident.end
        return [
            ("EVENT", notification.event.rawValue), ("ID", notification.id), ("NOTIFIER", notifier), ("HOST", host),
            ("INCIDENT", incident.id), ("TARGET", incident.members[0].target),
            ("TARGETS", lines(incident.members.map(\.target))),
            ("OUTAGE", incident.members[0].outage), ("ATTRIBUTION", incident.state.attribution.rawValue),
            ("CAUSE", incident.state.cause?.rawValue ?? ""), ("REASON", incident.reason ?? ""),
            ("START", now.time(incident.start).text), ("END", end.map { now.time($0).text } ?? ""),
            ("ENDING", incident.ending?.rawValue ?? ""),
            ("DURATION_MS", String(((end ?? now.now) - incident.start).roundedMilliseconds)),
            ("ACTOR", actor(of: incident)?.text ?? ""),
            ("DELAYED", notification.isDelayed ? "true" : "false"), ("TEXT", text(notification)),
        ] + messageFields(notification)
    }

    /// Returns the process that caused the first outage; nil if it is not known.
    func actor(of incident: Incident) -> ActingProcess? {
        let outage = incident.members[0].outage
        return actors(of: [outage])[outage]
    }

    /// Returns the processes that caused outages, keyed by the id of the outage. Empty if the history cannot be read.
    private func actors(of ids: [String]) -> [String: ActingProcess] { (try? outages.actors(of: ids, snapshot)) ?? [:] }

    func names(_ incident: Incident) -> String {
        let members = incident.affected
        return few(members.map(\.target), of: members.count)
    }
}

extension NotificationWriter {
    /// Returns one alert for each target.
    package func alerts(_ notifications: [Notification], lifetime: Duration) -> [JSONObject] {
        let now = snapshot
        var (over, lasting) = ([JSONObject](), [JSONObject]())
        for notification in notifications {
            let incident = notification.incident
            let actors = self.actors(of: incident.members.map(\.outage))
            for member in incident.members {
                if let previous = notification.previous, previous != member.state.labels {
                    let end = member.end ?? incident.since
                    over.append(
                        alert(member, previous, notification, actors[member.outage], end: min(end, now.now), now)
                    )
                }
                let alert = alert(
                    member,
                    member.state.labels,
                    notification,
                    actors[member.outage],
                    end: member.end ?? now.now + lifetime,
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
        var annotations = JSONObject()
        annotations.add("summary", text(notification))
        annotations.add("reason", member.reason ?? "")
        annotations.add("outage", member.outage)
        annotations.add("actor", actor?.text ?? "")
        annotations.add("incident", notification.incident.id)
        var alert = JSONObject()
        alert.add("labels", names)
        alert.add("annotations", annotations)
        alert.add("startsAt", now.time(member.start))
        // Alertmanager rejects an alert whose end is not after its start.
        alert.add("endsAt", now.time(max(end, member.start + .milliseconds(1))))
        return alert
    }
}
