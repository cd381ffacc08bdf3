import Foundation
import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import Testing

@testable import ReachabilityFleetHub
@testable import ReachabilityService

/// An incident of several sites in the store, the API, the pages and the notifications.
@Suite struct SeveralSitesTests {
    /// Returns a hub with four sites, three of which cannot reach the target `erp`.
    private static func world() throws -> HubWorld {
        let world = try HubWorld()
        world.writer.brokerConnected()
        let sites = ["east", "north", "south", "west"]
        world.receive(sites.enumerated().map { .online("d", "a", $0, site: $1) })
        world.receive(
            sites.dropFirst().enumerated().map { index, site in
                .event("d", "a", 60, .outage(outage("o", 50 + index, nil, target: "erp")), number: 1, site: site)
            }
        )
        return world
    }

    @Test func `the API has one incident with its target and its sites`() throws {
        let world = try Self.world()
        let incidents = try world.items("/v1/incidents")
        try #require(incidents.count == 1)
        let incident = incidents[0]
        #expect(incident["sites"] as? [String] == ["north", "south", "west"] && incident["site"] as? String == "north")
        #expect(incident["siteCount"] as? Int == 3 && incident["siteTotal"] as? Int == 4)
        #expect(incident["devices"] as? [String] == ["north/d", "south/d", "west/d"])
        #expect(incident["target"] as? String == "erp" && incident["attribution"] as? String == "them")
        let id = try #require(incident["id"] as? String)
        let parts = try #require(try world.object("/v1/incidents/\(id)")["parts"] as? [[String: Any]])
        #expect(parts.map { $0["site"] as? String } == ["north", "south", "west"])
        #expect(parts.allSatisfy { $0["device"] as? String == "d" })
        for query in ["site=south", "device=d", "site=west&device=d", "site=north&device=d"] {
            #expect(try world.items("/v1/incidents?\(query)").count == 1, "\(query)")
        }
        for query in ["site=east", "device=e", "site=east&device=d"] {
            #expect(try world.items("/v1/incidents?\(query)").isEmpty, "\(query)")
        }
        #expect(try world.object("/v1/devices/south/d")["incident"] as? String == id)
        #expect(try world.items("/v1/sites").map { ($0["incidents"] as? [String])?.count } == [0, 1, 1, 1])
        let line = try world.text("/v1/incidents")
        #expect(line.contains(" erp is down from 3 of 4 sites (north, south, west): them.host for "), "\(line)")
        #expect(try world.text("/v1/incidents/\(id)").contains("\n  south/d: erp: them.host from "))
        let events = try world.items("/v1/events?limit=100").compactMap { $0["event"] as? String }
        #expect(events.count { $0 == "incidentOpened" } == 1)
    }

    @Test func `the pages show one incident at each of its sites`() throws {
        let world = try Self.world()
        let id = try #require(try world.items("/v1/incidents").first?["id"] as? String)
        func page(_ path: String) throws -> String { String(decoding: try world.answer(path).body, as: UTF8.self) }
        for path in ["/", "/incidents", "/incidents/\(id)", "/sites/south", "/devices/west/d"] {
            #expect(try page(path).contains("erp is down from 3 of 4 sites"), "\(path)")
        }
        #expect(try page("/").contains("1 more incident") == false)
        #expect(!(try page("/sites/east").contains("erp is down")))
        let detail = try page("/incidents/\(id)")
        #expect(detail.contains("devices/south/d\"") && detail.contains("sites/west\""))
        let own = outage("o", 50, 90, target: "erp")
        world.receive(
            ["north", "south", "west"].map { .event("d", "a", 100, .outage(own), number: 2, site: $0) }
        )
        #expect(try page("/incidents").contains("erp was down from 3 of 4 sites"))
    }

    @Test func `the incident is stored with its machines, and deleted with them`() throws {
        let world = try Self.world()
        let hub = world.writer.hub
        #expect(try world.store.contents().incidents == hub.book.incidents)
        #expect(try world.store.incidents(IncidentQuery(limit: 9)) == hub.book.incidents.map(IncidentSummary.init))
        for site in ["north", "south", "west"] { #expect(try world.store.hasOutage("o", of: place("d", site: site))) }
        #expect(try world.writer.forget([place("d", site: "south")]).count == 1)
        let left = try #require(try world.store.incidents(IncidentQuery(limit: 9)).first)
        #expect(left.sites == ["north", "west"] && left.deviceCount == 2)
        #expect(try !world.store.hasOutage("o", of: place("d", site: "south")))
        #expect(try world.writer.forget([place("d"), place("d", site: "west")]).count == 2)
        #expect(try world.store.incidents(IncidentQuery(limit: 9)).isEmpty)
    }

    @Test func `old incidents are deleted with the outages of all sites`() throws {
        let world = try Self.world()
        world.receive(
            ["north", "south", "west"].map {
                .event("d", "a", 100, .outage(outage("o", 50, 90, target: "erp")), number: 2, site: $0)
            }
        )
        #expect(try world.store.deleteIncidents(endedBefore: at(1000), limit: 9) == 1)
        #expect(try !world.store.hasOutage("o", of: place("d", site: "west")))
    }

    @Test func `the notification has the target and the sites, and is sent once`() throws {
        let world = try Self.world()
        let incident = try #require(world.writer.hub.book.incidents.first)
        var tracker = IncidentTracker(keptPerSite: FleetIncidentTracker.kept)
        let start = LedgerInstant(wall: at(60))
        _ = tracker.take(.site(SiteIncident(IncidentSummary(incident), of: 4), at: start))
        func told(_ sites: Set<String>?, after seconds: Int) -> [ReachabilityService.Notification] {
            let notifier = NotifierSettings(name: "n", channel: .journal, after: .zero, only: [.them], targets: sites)
            let now = LedgerInstant(wall: at(60 + seconds))
            return tracker.incidents.compactMap { $0.next(for: "n", of: notifier, at: now) }
        }
        #expect(told(["east"], after: 1).isEmpty)
        #expect(told(["south"], after: 1).count == 1)
        let notification = try #require(told(nil, after: 1).first)
        let writer = FleetNotificationWriter(host: "box") { at(90) }
        let text = writer.text(notification)
        let machines = "3 machines (north/d, south/d, west/d)"
        let since = Timestamp(real: at(50)).text
        let what = "box: erp is down from 3 of 4 sites (north, south, west; them.host)"
        #expect(text == "\(what), \(machines), since \(since)")
        #expect(writer.message(notification).title == "box: erp is down from 3 of 4 sites")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(writer.object(notification, for: "n").bytes)) as? [String: Any]
        )
        #expect(object["target"] as? String == "erp" && object["siteTotal"] as? Int == 4)
        #expect(object["sites"] as? [String] == ["north", "south", "west"])
        let fields = Dictionary(writer.fields(notification, for: "n").map { ($0.name, $0.value) }) { $1 }
        #expect(fields["TARGET"] == "erp" && fields["SITES"] == "north\nsouth\nwest")
    }
}
