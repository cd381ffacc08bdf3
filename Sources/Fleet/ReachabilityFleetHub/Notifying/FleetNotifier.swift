package import LinuxSupport
package import Logging
import ReachabilityFleet
import ReachabilityLedger
package import ReachabilityService

extension Notifier {
    /// Creates a notifier for the incidents of a fleet.
    ///
    /// - Parameters:
    ///   - store: The store of deliveries, and of incidents that are no longer in memory.
    ///   - clock: The clock. Its time since 1970 is the hub's clock.
    package convenience init(
        _ hubWriter: HubWriter,
        store: HubStore,
        writer: any NotificationWriting,
        environment: NotifyEnvironment,
        clock: ServiceClock = .system,
        logger: Logger?
    ) {
        let now = clock.real
        let source = Source(
            now: { LedgerInstant(wall: now()) },
            clock: clock,
            keptPerSite: FleetIncidentTracker.kept
        ) { known, listener in
            let follower = IncidentFollower(known, store: store)
            listener(follower.changes(hubWriter.hub, at: now()))
            hubWriter.addListener { decisions, hub in
                let changes = follower.changes(decisions, hub, at: now())
                if !changes.isEmpty { listener(changes) }
            }
            return Cancellation { follower.stop() }
        }
        let storage = Storage(
            name: "the history",
            read: { try store.notified() },
            write: { incidents, before in
                let known = Dictionary(before.map { ($0.id, $0.kept) }) { _, last in last }
                let gone = Set(known.keys).subtracting(incidents.map(\.id))
                let changed = incidents.filter { known[$0.id] != $0.kept }
                if changed.isEmpty, gone.isEmpty { return }
                try store.save(notified: changed, forgetting: Array(gone))
            }
        )
        self.init(source, storage: storage, writer: writer, environment: environment, logger: logger)
    }
}

/// A converter from the decisions of a hub to changes of incidents. Thread-safe.
private final class IncidentFollower: Sendable {
    private let store: HubStore
    /// The notified incidents of an earlier run.
    private let known: [Incident]
    /// The ids of the incidents whose end has not been reported; nil after ``stop()``.
    private let open: Locked<Set<String>?>

    init(_ known: [Incident], store: HubStore) {
        (self.known, self.store) = (known, store)
        open = Locked(Set(known.map(\.id)))
    }

    func stop() { open.withLock { $0 = nil } }

    /// Returns the current state of each incident that is open or was notified in an earlier run.
    func changes(_ hub: Hub, at now: Duration) -> [IncidentChange] {
        let lasting = hub.book.incidents.filter(\.isOpen)
        let ids = Set(lasting.map(\.id))
        open.withLock { $0?.formUnion(ids) }
        let over = known.filter { !ids.contains($0.id) }
        let places = lasting.reversed().map { ($0.id, $0.site) } + over.map { ($0.id, $0.site) }
        return places.map { id, site in
            change(id, site, hub, at: now)
        }
    }

    /// Returns the current state of each incident that the decisions have changed.
    func changes(_ decisions: [Hub.Decision], _ hub: Hub, at now: Duration) -> [IncidentChange] {
        guard open.withLock({ $0 != nil }) else { return [] }
        var seen: Set<String> = []
        return decisions.compactMap { decision in
            guard case .incident(let change) = decision, seen.insert(change.incident).inserted else { return nil }
            if let incident = hub.book.incident(change.incident, at: change.site) {
                if incident.isOpen { open.withLock { _ = $0?.insert(change.incident) } }
            } else if !open.withLock({ $0?.contains(change.incident) ?? false }) {
                // A machine has reported an incident that ended long ago.
                return nil
            }
            return self.change(change.incident, change.site, hub, at: now)
        }
    }

    private func change(_ id: String, _ site: String, _ hub: Hub, at now: Duration) -> IncidentChange {
        let current = hub.book.incident(id, at: site)
        if current?.isOpen != true { open.withLock { _ = $0?.remove(id) } }
        let instant = LedgerInstant(wall: now)
        // The hub keeps only the latest incidents in memory.
        guard let incident = current ?? (try? store.incident(id)) else { return .forgotten(id, at: instant) }
        return .site(SiteIncident(IncidentSummary(incident), of: hub.siteCount), at: instant)
    }
}

extension SiteIncident {
    /// - Parameter siteCount: The number of sites of the fleet.
    init(_ summary: IncidentSummary, of siteCount: Int = 1) {
        self.init(
            id: summary.id,
            site: summary.site,
            start: LedgerInstant(wall: summary.start),
            end: summary.end.map { LedgerInstant(wall: $0) },
            state: TargetState(summary.attribution, summary.cause),
            machines: .init(
                names: summary.devices,
                count: summary.deviceCount,
                isUnexplained: summary.isUnexplained,
                isHarmless: summary.isHarmless,
                spread: summary.spread(of: siteCount)
            )
        )
    }
}

extension Incident {
    /// A copy with only the properties that are saved. The hub has the others.
    var kept: Incident {
        Incident(
            id: id,
            site: site,
            start: start,
            noticed: noticed ?? start,
            since: since,
            state: state,
            deliveries: deliveries,
            finished: finished
        )
    }
}

extension LedgerInstant {
    init(wall: Duration) {
        self.init(since1970: wall)
    }

    /// The time of the hub's clock, since 1970.
    var wall: Duration { .nanoseconds(nanoseconds) }
}

/// A writer of notifications about the incidents of a fleet.
package struct FleetNotificationWriter: NotificationWriting {
    /// The host name of the hub.
    let host: String
    /// The hub's clock, since 1970.
    let clock: @Sendable () -> Duration
    /// The time zone of messages for people.
    let zone: LocalTime

    package init(
        host: String,
        clock: @escaping @Sendable () -> Duration = { SystemClock.real },
        zone: LocalTime = LocalTime()
    ) {
        (self.host, self.clock, self.zone) = (host, clock, zone)
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
        object.add("sites", sites(incident))
        object.add("siteTotal", optional: incident.machines?.spread?.total)
        object.add("target", incident.machines?.spread?.target)
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

    /// Returns a text such as `box: No route at north (us.route), 5 machines (d0, d1, d2 and 2 more), since
    /// 2026-11-24T20:15:02.204Z`.
    package func text(_ notification: Notification) -> String {
        let incident = notification.incident
        let attribution = incident.state.attribution
        let names = incident.machines?.spread.map { "\(few($0.sites, of: $0.sites.count)); " } ?? ""
        let what = "\(heading(incident)) (\(names)\(fault(incident)))"
        let (since, lasted) = (time(incident.start).text, length(incident).people)
        var doubt = ""
        if attribution == .unknown {
            doubt = ", reason not known yet"
        } else if incident.machines?.isUnexplained ?? false {
            doubt = ", some unexplained"
        }
        let whole = "\(what), \(machines(incident))\(doubt)"
        let sentence: String
        switch notification.event {
        case .began: sentence = "\(whole), since \(since)"
        case .refined where notification.previous == incident.state.labels:
            sentence = "\(whole), continues after all, since \(since)"
        case .refined: sentence = "\(whole), updated, since \(since)"
        case .test: sentence = "this is a test of the notifications"
        case .digest: sentence = "\(whole), still after \(lasted), since \(since)"
        case .ended where incident.ending == .unknown:
            sentence = "no more notifications for \(incident.site): its machines were deleted, from \(since)"
        case .ended where incident.machines?.isHarmless ?? false:
            sentence =
                "no fault at \(incident.site): \(machines(incident)) slept, shut down, or could not be observed, from \(since)"
        case .ended: sentence = "over after \(lasted): \(whole), from \(since)"
        }
        return "\(host): \(sentence)".printable
    }

    package func fields(_ notification: Notification, for notifier: String) -> [(name: String, value: String)] {
        let incident = notification.incident
        return [
            ("EVENT", notification.event.rawValue), ("ID", notification.id), ("NOTIFIER", notifier), ("HOST", host),
            ("INCIDENT", incident.id), ("PAGE", page(incident)), ("SITE", incident.site),
            ("SITES", lines(sites(incident))), ("TARGET", incident.machines?.spread?.target?.printable ?? ""),
            ("DEVICES", lines(incident.machines?.names ?? [])),
            ("DEVICE_COUNT", String(incident.machines?.count ?? 0)),
            ("ATTRIBUTION", incident.state.attribution.rawValue), ("CAUSE", incident.state.cause?.rawValue ?? ""),
            ("UNEXPLAINED", incident.machines?.isUnexplained ?? false ? "true" : "false"),
            ("HARMLESS", incident.machines?.isHarmless ?? false ? "true" : "false"),
            ("START", time(incident.start).text), ("END", incident.end.map { time($0).text } ?? ""),
            ("DURATION_MS", String(length(incident).milliseconds)),
            ("DELAYED", notification.isDelayed ? "true" : "false"), ("TEXT", text(notification)),
        ] + messageFields(notification)
    }

    package func message(_ notification: Notification) -> PlainMessage {
        let (incident, event) = (notification.incident, notification.event)
        if event == .test {
            return PlainMessage(title: "\(host): test of the notifications", ["This is a test of the notifications."])
        }
        let (attribution, spread) = (incident.state.attribution, incident.machines?.spread)
        let heading = self.heading(incident)
        let title =
            switch event {
            case .began, .test: heading
            case .refined: "\(heading), updated"
            case .digest: "\(heading), still"
            case .ended where incident.ending == .unknown: "\(incident.site) is no longer followed"
            case .ended: "\(spread?.target ?? incident.site) works again"
            }
        let isUnexplained = attribution != .unknown && (incident.machines?.isUnexplained ?? false)
        return PlainMessage(
            title: "\(host): \(title)",
            [
                "Affected: \(machines(incident)).",
                spread.map { "Sites: \(few($0.sites, of: $0.sites.count))." },
                incident.machines?.isHarmless ?? false ? "They slept, shut down, or could not be observed." : nil,
                attribution == .unknown ? "The reason is not known yet." : nil,
                isUnexplained ? "The silence of some machines is not explained." : nil,
                PlainMessage.times(
                    from: incident.start.wall,
                    to: incident.end?.wall,
                    isEndKnown: incident.ending != .unknown,
                    in: zone
                ),
                notification.isDelayed ? "This message is late, because it could not be delivered earlier." : nil,
            ]
        )
    }

    /// Returns one alert for each incident. The labels never change, so Alertmanager keeps one alert per incident.
    package func alerts(_ notifications: [Notification], lifetime: Duration) -> [JSONObject] {
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
            words.add("sites", few(sites(incident), of: sites(incident).count))
            words.add("devices", few(incident.machines?.names ?? [], of: incident.machines?.count ?? 0).printable)
            words.add("page", page(incident))
            var alert = JSONObject()
            alert.add("labels", names)
            alert.add("annotations", words)
            alert.add("startsAt", time(incident.start))
            // Alertmanager rejects an alert without a duration.
            let end = max(incident.end?.wall ?? now + lifetime, incident.start.wall + .milliseconds(1))
            alert.add("endsAt", Timestamp(real: end))
            return alert
        }
    }

    // MARK: Parts

    private func heading(_ incident: Incident) -> String {
        FaultDescription.heading(
            incident.state.attribution,
            incident.state.cause,
            at: incident.site,
            incident.machines?.spread,
            isOver: incident.isOver
        )
    }

    private func sites(_ incident: Incident) -> [String] { incident.machines?.spread?.sites ?? [incident.site] }

    private func machines(_ incident: Incident) -> String {
        guard let machines = incident.machines else { return "" }
        let names = few(machines.names, of: machines.count)
        return machines.count == 1 ? "machine \(names)" : "\(machines.count) machines (\(names))"
    }

    private func fault(_ incident: Incident) -> String {
        incident.state.attribution == .unknown ? Attribution.unknown.rawValue : incident.state.description
    }

    /// Returns the path of the incident's page on the hub.
    private func page(_ incident: Incident) -> String { FleetLink.incident(incident.id) }

    private func time(_ instant: LedgerInstant) -> Timestamp { Timestamp(real: instant.wall) }

    private func length(_ incident: Incident) -> Duration {
        max(.zero, (incident.end?.wall ?? clock()) - incident.start.wall)
    }
}
