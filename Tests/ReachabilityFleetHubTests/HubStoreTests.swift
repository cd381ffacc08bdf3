import Foundation
import ReachabilityFleet
import ReachabilityLedger
import Testing

@testable import ReachabilityFleetHub
@testable import ReachabilityService

/// The machines and incidents of a hub in its store.
@Suite struct HubStoreTests {
    private let directory: ScratchDirectory
    private let store: HubStore

    init() throws {
        (directory, store) = (try ScratchDirectory(), try HubStore())
    }

    /// A hub after many events, and all changes to save.
    private func history() throws -> (hub: Hub, changes: HubChanges) {
        var hub = Hub()
        hub.brokerConnected(at: at(0))
        for (index, site) in ["north", "north", "south"].enumerated() {
            let device = "d\(index)"
            let own = outage("o\(index)", 110, 480)
            for message in [
                Hub.Message.online(device, "a", 0, site: site), .online(device, "a", 100, site: site),
                .will(device, "a", 190, site: site), .online(device, "b", 500, site: site),
                .event(device, "b", 501, .outage(own), number: 7, site: site),
                .event(device, "b", 502, .caughtUp, site: site),
                .event(device, "b", 9000, .outage(outage("p\(index)", 8990, nil)), number: 8, site: site),
            ] {
                _ = hub.take(message)
            }
        }
        _ = hub.take(.will("gone", "x", 20_000, site: "south"))
        _ = hub.take(.event("pump", "s", 30_000, .outage(outage("q", -86400, -86300)), number: 1))
        var changes = HubChanges()
        changes.devices = Array(hub.devices.values)
        for incident in hub.book.incidents { changes.add(incident, incident.devices) }
        return (hub, changes)
    }

    @Test func `saved machines and incidents are read unchanged`() throws {
        let (hub, changes) = try history()
        try store.save(changes)
        let contents = try store.contents()
        func records(_ devices: some Sequence<HubDevice>) -> [String] {
            devices.sorted { $0.place < $1.place }.map { "\($0.place) \(String(decoding: $0.record, as: UTF8.self))" }
        }
        #expect(records(contents.devices) == records(hub.devices.values))
        let incidents = contents.incidents.sorted { ($0.start, $0.id) > ($1.start, $1.id) }
        #expect(incidents == hub.book.incidents)
        for incident in hub.book.incidents { #expect(try store.incident(incident.id) == incident) }
        #expect(try store.incident("none") == nil)
    }

    @Test func `a hub continues from the store without a difference`() throws {
        var (hub, changes) = try history()
        try store.save(changes)
        let contents = try store.contents()
        var other = Hub(devices: contents.devices, incidents: contents.incidents)
        for message in [
            Hub.Message.event("d0", "b", 9100, .outage(outage("p0", 8990, 9050)), number: 9),
            .event("d0", "b", 9100, .outage(outage("o0", 110, 480)), number: 7),
        ] {
            _ = hub.take(message)
            _ = other.take(message)
        }
        #expect(other.book.incidents == hub.book.incidents)
    }

    @Test func `a second save changes only its machines and incidents`() throws {
        var (hub, changes) = try history()
        try store.save(changes)
        _ = hub.take(.event("d2", "b", 9100, .outage(outage("p2", 8990, 9050)), number: 9, site: "south"))
        let changed = try #require(
            hub.book.incidents.first { $0.site == "south" && $0.parts["d2"]?.outages["p2"] != nil }
        )
        changes = HubChanges()
        changes.add(changed, ["d2"])
        try store.save(changes)
        #expect(try store.incident(changed.id) == changed)
        for incident in hub.book.incidents { #expect(try store.incident(incident.id) == incident) }
    }

    @Test func `the store finds outages by machine and id`() throws {
        try store.save(history().changes)
        #expect(try store.hasOutage("o1", of: place("d1")))
        #expect(try !store.hasOutage("o1", of: place("d0")))
        #expect(try !store.hasOutage("o1", of: place("d1", site: "south")))
        #expect(try !store.hasOutage("none", of: place("d1")))
    }

    @Test func `incidents are paged, the latest first, and filtered by site, machine and state`() throws {
        let (hub, changes) = try history()
        try store.save(changes)
        let all = hub.book.incidents.map(IncidentSummary.init)
        #expect(try store.incidents(IncidentQuery(limit: 100)) == all)
        var pages: [IncidentSummary] = []
        while let next = try store.incidents(IncidentQuery(after: pages.last?.id, limit: 1)).first {
            pages.append(next)
            try #require(pages.count <= all.count)
        }
        #expect(pages == all)
        #expect(try store.incidents(IncidentQuery(site: "south", limit: 100)) == all.filter { $0.site == "south" })
        #expect(
            try store.incidents(IncidentQuery(device: "d1", limit: 100)) == all.filter { $0.devices.contains("d1") }
        )
        #expect(try store.incidents(IncidentQuery(isOpen: true, limit: 100)) == all.filter { $0.end == nil })
        #expect(
            try store.incidents(IncidentQuery(site: "north", device: "d1", isOpen: true, limit: 100))
                == all.filter { $0.site == "north" && $0.devices.contains("d1") && $0.end == nil }
        )
        #expect(try store.incidents(IncidentQuery(after: "none", limit: 100)).isEmpty)
    }

    @Test func `deleting a machine deletes the incidents of this machine alone`() throws {
        var (hub, changes) = try history()
        try store.save(changes)
        for device in ["d0", "pump"] {
            try store.forget([place(device)])
            for case .incident(let change) in try hub.forget(place(device)) {
                guard let incident = hub.book.incident(change.incident, at: "north") else { continue }
                changes = HubChanges()
                changes.add(incident, [])
                try store.save(changes)
            }
        }
        let contents = try store.contents()
        #expect(Set(contents.devices.map(\.place)) == Set(hub.devices.keys))
        #expect(try store.incidents(IncidentQuery(limit: 100)) == hub.book.incidents.map(IncidentSummary.init))
        #expect(try store.incidents(IncidentQuery(device: "d0", limit: 100)).isEmpty)
        #expect(try !store.hasOutage("o0", of: place("d0")))
        #expect(try store.hasOutage("o1", of: place("d1")))
        // A machine of another site may have the same name.
        try store.forget([place("d2")])
        #expect(try store.hasOutage("o2", of: place("d2", site: "south")))
    }

    @Test func `old ended incidents are deleted, the oldest first, and open ones are kept`() throws {
        try store.save(history().changes)
        let before = try store.incidents(IncidentQuery(limit: 100))
        let over = before.filter { $0.end.map { $0 < at(20_000) } ?? false }
        #expect(over.count >= 2 && over.count < before.count)
        #expect(try store.deleteIncidents(endedBefore: at(20_000), limit: 1) == 1)
        #expect(try store.incident(try #require(over.last).id) == nil)
        #expect(try store.deleteIncidents(endedBefore: at(20_000), limit: 100) == over.count - 1)
        #expect(try store.deleteIncidents(endedBefore: at(20_000), limit: 100) == 0)
        #expect(try store.incidents(IncidentQuery(limit: 100)) == before.filter { !over.contains($0) })
        #expect(try !store.hasOutage("o0", of: place("d0")) && store.hasOutage("p0", of: place("d0")))
        #expect(try store.contents().devices.count == 5)
    }

    @Test func `notified incidents are read unchanged until they are deleted`() throws {
        func incident(_ id: String, _ start: Int, _ state: TargetState, _ cause: OutageCause?) -> Incident {
            func instant(_ seconds: Int) -> LedgerInstant {
                LedgerInstant(nanoseconds: at(seconds).components.seconds * 1_000_000_000)
            }
            let labels = Incident.Labels(attribution: .us, cause: cause)
            return Incident(
                id: id,
                site: "north",
                start: instant(start),
                noticed: instant(start + 5),
                since: instant(start + 9),
                state: state,
                deliveries: [
                    "chat": .init(labels: labels, refinements: 3, digests: 4, endings: 5), "b": .init(labels: labels),
                ],
                finished: ["b"]
            )
        }
        let (first, second) = (
            incident("z", 10, TargetState(.unknown), nil), incident("a \"'", 20, TargetState(.us, .link), .route)
        )
        #expect(try store.notified().isEmpty)
        try store.save(notified: [second, first], forgetting: [])
        #expect(try store.notified() == [first, second])
        let changed = incident("z", 10, TargetState(.upstream, .gateway), .dns)
        try store.save(notified: [changed], forgetting: ["none"])
        #expect(try store.notified() == [changed, second])
        try store.save(notified: [], forgetting: ["z"])
        #expect(try store.notified() == [second])
    }

    @Test func `all open and the latest ended incidents are read at the start`() throws {
        var hub = Hub()
        var changes = HubChanges()
        for number in 0..<60 {
            let start = number * 1000
            let end = number % 3 == 0 ? nil : start + 10
            let own = outage("o\(number)", start, end)
            for case .incident(let change) in hub.take(.event("d", "s", start + 100, .outage(own))) {
                let incident = try #require(hub.book.incident(change.incident, at: "north"))
                changes.add(incident, ["d"])
            }
        }
        try store.save(changes)
        let incidents = try store.contents().incidents
        #expect(incidents.count(where: \.isOpen) == 20)
        #expect(incidents.count { !$0.isOpen } == 16)
        #expect(incidents.filter { !$0.isOpen }.map(\.start).min() == at(37_000))
        let latest = try #require(try store.incidents(IncidentQuery(limit: 1)).first?.id)
        for (query, count) in [
            (IncidentQuery(limit: 1), 60), (IncidentQuery(isOpen: true, after: latest, limit: 1), 20),
            (IncidentQuery(site: "north", device: "d", limit: 1), 60), (IncidentQuery(device: "x", limit: 1), 0),
        ] {
            #expect(try store.incidentCount(query, limit: 100) == count)
            #expect(try store.incidentCount(query, limit: 7) == min(count, 7))
        }
    }

    @Test func `the file has one writer and is readable only by its owner`() throws {
        let file = directory.file("hub.sqlite")
        let store = try HubStore(file)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        do {
            _ = try HubStore(file)
            Issue.record("a second store opened the locked file")
        } catch { #expect(error.kind == .locked) }
        store.close()
        try HubStore(file).close()
    }

    @Test func `the history of a service is refused and not changed`() throws {
        let file = directory.file("history.sqlite")
        try HistoryStore(file).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        do {
            _ = try HubStore(file)
            Issue.record("a file of the service was opened as a store")
        } catch { #expect(error.kind == .foreign) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
    }
}
