package import LinuxSupport
import ReachabilityLedger
package import ReachabilityService

/// Writes notifications of the incidents of a fleet. What machines say of themselves is made safe to show.
package struct FleetNotificationWriter: NotificationWriting {
    /// The name of the machine the hub is on.
    let host: String
    /// The hub's clock, since 1970.
    let clock: @Sendable () -> Duration

    package init(host: String, clock: @escaping @Sendable () -> Duration = { SystemClock.real }) {
        (self.host, self.clock) = (host, clock)
    }

    package func object(_ notification: Notification, for notifier: String) -> JSONObject {
        let (incident, now) = (notification.incident, clock())
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", notification.id)
        object.add("event", notification.event.rawValue)
        object.add("notifier", notifier)
        object.add("host", host)
        object.add("time", Timestamp(real: now))
        object.add("delayed", notification.isDelayed)
        object.add("text", text(notification))
        object.add("incident", incident.id)
        object.add("page", page(incident))
        object.add("site", incident.site)
        object.add("attribution", incident.state.attribution.rawValue)
        object.add("cause", incident.state.cause?.rawValue)
        object.add("isUnexplained", incident.machines?.isUnexplained ?? false)
        object.add("isHarmless", incident.machines?.isHarmless ?? false)
        object.add("start", time(incident.start))
        object.add("end", incident.end.map { time($0).text })
        object.add("durationMilliseconds", length(incident).milliseconds)
        object.add("devices", incident.machines?.names ?? [])
        object.add("deviceCount", incident.machines?.count ?? 0)
        object.add("kind", "notification")
        return object
    }

    /// For example `box: No route at north (us.route), 5 machines (d0, d1, d2 and 2 more), since 2026-11-24T20:15:02.204Z`.
    package func text(_ notification: Notification) -> String {
        let incident = notification.incident
        let (attribution, cause) = (incident.state.attribution, incident.state.cause)
        let what = "\(FaultWords.heading(attribution, cause)) at \(incident.site) (\(fault(incident)))"
        let (since, lasted) = (time(incident.start).text, length(incident).people)
        var doubt = ""
        if attribution == .unknown {
            doubt = ", nobody knows why yet"
        } else if incident.machines?.isUnexplained ?? false {
            doubt = ", not all explained"
        }
        let whole = "\(what), \(machines(incident))\(doubt)"
        let sentence: String
        switch notification.event {
        case .began: sentence = "\(whole), since \(since)"
        case .refined where notification.previous == incident.state.labels:
            sentence = "\(whole), goes on after all, since \(since)"
        case .refined: sentence = "\(whole), as is known now, since \(since)"
        case .digest: sentence = "\(whole), still after \(lasted), since \(since)"
        case .ended where incident.ending == .unknown:
            sentence = "nothing more is told of \(incident.site): its machines are forgotten, from \(since)"
        case .ended where incident.machines?.isHarmless ?? false:
            sentence =
                "nothing was wrong at \(incident.site): \(machines(incident)) slept, had said so, or nobody listened, from \(since)"
        case .ended: sentence = "over after \(lasted): \(whole), from \(since)"
        }
        return "\(host): \(sentence)".printable
    }

    package func fields(_ notification: Notification, for notifier: String) -> [(name: String, value: String)] {
        let incident = notification.incident
        return [
            ("EVENT", notification.event.rawValue), ("ID", notification.id), ("NOTIFIER", notifier), ("HOST", host),
            ("INCIDENT", incident.id), ("PAGE", page(incident)), ("SITE", incident.site),
            ("DEVICES", lines(incident.machines?.names ?? [])),
            ("DEVICE_COUNT", String(incident.machines?.count ?? 0)),
            ("ATTRIBUTION", incident.state.attribution.rawValue), ("CAUSE", incident.state.cause?.rawValue ?? ""),
            ("UNEXPLAINED", incident.machines?.isUnexplained ?? false ? "true" : "false"),
            ("HARMLESS", incident.machines?.isHarmless ?? false ? "true" : "false"),
            ("START", time(incident.start).text), ("END", incident.end.map { time($0).text } ?? ""),
            ("DURATION_MS", String(length(incident).milliseconds)),
            ("DELAYED", notification.isDelayed ? "true" : "false"), ("TEXT", text(notification)),
        ]
    }

    /// An alert for each incident. Its labels stay the same whatever becomes known of it, so that it stays one.
    package func alerts(_ notifications: [Notification], patience: Duration) -> [JSONObject] {
        let now = clock()
        let sorted = notifications.filter(\.incident.isOver) + notifications.filter { !$0.incident.isOver }
        return sorted.map { notification in
            let incident = notification.incident
            var names = JSONObject()
            names.add("alertname", "ReachabilityFleetIncident")
            names.add("site", incident.site)
            names.add("incident", incident.id)
            names.add("host", host)
            var words = JSONObject()
            words.add("summary", text(notification))
            words.add("attribution", incident.state.attribution.rawValue)
            words.add("cause", incident.state.cause?.rawValue ?? "")
            words.add("devices", few(incident.machines?.names ?? [], of: incident.machines?.count ?? 0).printable)
            words.add("page", page(incident))
            var alert = JSONObject()
            alert.add("labels", names)
            alert.add("annotations", words)
            alert.add("startsAt", time(incident.start))
            // One that ends when it begins is refused.
            let end = max(incident.end?.wall ?? now + patience, incident.start.wall + .milliseconds(1))
            alert.add("endsAt", Timestamp(real: end))
            return alert
        }
    }

    // MARK: Parts

    private func machines(_ incident: Incident) -> String {
        guard let machines = incident.machines else { return "" }
        let names = few(machines.names, of: machines.count)
        return machines.count == 1 ? "machine \(names)" : "\(machines.count) machines (\(names))"
    }

    private func fault(_ incident: Incident) -> String {
        incident.state.attribution == .unknown ? Attribution.unknown.rawValue : incident.state.description
    }

    /// Below the hub's address.
    private func page(_ incident: Incident) -> String { HubPage.incident(incident.id).link }

    private func time(_ instant: LedgerInstant) -> Timestamp { Timestamp(real: instant.wall) }

    private func length(_ incident: Incident) -> Duration {
        max(.zero, (incident.end?.wall ?? clock()) - incident.start.wall)
    }
}
