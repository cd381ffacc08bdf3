import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
package import ReachabilityService

/// Tells of the incidents of a fleet: of each once.
package typealias FleetNotifying = Telling<FleetToldBook>

extension Telling where Book == FleetToldBook {
    /// - Parameters:
    ///   - store: Where it is written what was told, and where incidents are that the keeper has let go of.
    ///   - clock: Its time since 1970 is the hub's.
    ///   - report: Told of what people should know, in one line.
    package convenience init(
        _ keeper: HubKeeper,
        store: any HubStore,
        writer: any NotificationWriting,
        environment: NotifyEnvironment,
        clock: ServiceClock = .system,
        report: @escaping @Sendable (String) -> Void
    ) {
        let now = clock.real
        let source = TellingSource<FleetToldBook.Event>(now: { LedgerInstant(wall: now()) }, clock: clock) {
            known,
            listener in
            let follower = IncidentFollower(known, store: store)
            listener(follower.events(keeper.hub, at: now()))
            keeper.addListener { decisions, hub in
                let events = follower.events(decisions, hub, at: now())
                if !events.isEmpty { listener(events) }
            }
            return Cancellation { follower.stop() }
        }
        let memory = TellingMemory(
            name: "the history",
            read: { try store.told() },
            write: { incidents, before in
                let known = Dictionary(before.map { ($0.id, $0.kept) }) { _, last in last }
                let gone = Set(known.keys).subtracting(incidents.map(\.id))
                let changed = incidents.filter { known[$0.id] != $0.kept }
                if changed.isEmpty, gone.isEmpty { return }
                try store.save(told: changed, forgetting: Array(gone))
            }
        )
        self.init(source, memory: memory, writer: writer, environment: environment, report: report)
    }
}

/// Makes events of what a hub decides. Thread-safe.
private final class IncidentFollower: Sendable {
    private let store: any HubStore
    /// What an earlier run has left.
    private let known: [Incident]
    /// The ids of those that were not over when they were heard of last; nil when nobody listens any more.
    private let open: Locked<Set<String>?>

    init(_ known: [Incident], store: any HubStore) {
        (self.known, self.store) = (known, store)
        open = Locked(Set(known.map(\.id)))
    }

    func stop() { open.withLock { $0 = nil } }

    /// How it stands at the beginning.
    func events(_ hub: Hub, at now: Duration) -> [FleetToldBook.Event] {
        let lasting = hub.book.incidents.filter(\.isOpen)
        let ids = Set(lasting.map(\.id))
        open.withLock { $0?.formUnion(ids) }
        let over = known.filter { !ids.contains($0.id) }
        let places = lasting.reversed().map { ($0.id, $0.site) } + over.map { ($0.id, $0.site) }
        return places.map { id, site in
            event(id, site, hub, at: now)
        }
    }

    /// What follows of decisions, of each incident how it is now.
    func events(_ decisions: [Hub.Decision], _ hub: Hub, at now: Duration) -> [FleetToldBook.Event] {
        guard open.withLock({ $0 != nil }) else { return [] }
        var seen: Set<String> = []
        return decisions.compactMap { decision in
            guard case .incident(let change) = decision, seen.insert(change.incident).inserted else { return nil }
            if let incident = hub.book.incident(change.incident, at: change.place.site) {
                if incident.isOpen { open.withLock { _ = $0?.insert(change.incident) } }
            } else if !open.withLock({ $0?.contains(change.incident) ?? false }) {
                // A machine tells of something that was over long ago.
                return nil
            }
            return event(change.incident, change.place.site, hub, at: now)
        }
    }

    private func event(_ id: String, _ site: String, _ hub: Hub, at now: Duration) -> FleetToldBook.Event {
        let current = hub.book.incident(id, at: site)
        if current?.isOpen != true { open.withLock { _ = $0?.remove(id) } }
        // One that is over for long, or ended as the last of many, is only on the disk.
        guard let incident = current ?? (try? store.incident(id)) else { return .gone(id: id, at: now) }
        return .stands(IncidentSummary(incident), at: now)
    }
}
