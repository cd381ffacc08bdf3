import Foundation
import LinuxSupport
import MQTT
import NIOHTTP1
import NetworkLab
import ReachabilityFleet
import ReachabilityServer
import Testing

@testable import ReachabilityFleetHub

/// The HTTP API of a hub.
@Suite struct HubAPITests {
    @Test func `a machine has its state and the reason of its absence`() throws {
        let world = try HubWorld.twoSites()
        let devices = try world.items("/v1/devices")
        #expect(devices.map { $0["device"] as? String } == ["d0", "d1", "d2", "s"])
        #expect(devices.map { $0["standing"] as? String } == ["online", "silent", "online", "online"])
        let silence = devices[0]["silence"] as? [String: Any]
        #expect(silence?["verdict"] as? String == "outage")
        #expect(silence?["attribution"] as? String == "us" && silence?["cause"] as? String == "link")
        #expect((devices[1]["silence"] as? [String: Any])?["verdict"] as? String == "unexplained")
        #expect(devices[2]["silence"] is NSNull)
        #expect(devices[1]["incident"] as? String == (try world.items("/v1/incidents").first?["id"] as? String))
        let one = try world.object("/v1/devices/north/d1")
        #expect(one["standing"] as? String == "silent" && one["kind"] as? String == "device")
        #expect(try world.answer("/v1/devices/north/none").status == .notFound)
        #expect(try world.answer("/v1/devices/no%20th/d1").status == .notFound)
        #expect(try world.text("/v1/devices?standing=silent").hasPrefix("north/d1: silent since "))
    }

    @Test func `machines can be filtered and paged`() throws {
        let world = try HubWorld.twoSites()
        func names(_ query: String) throws -> [String?] {
            try world.items("/v1/devices?" + query).map { $0["device"] as? String }
        }
        #expect(try names("site=north&standing=online") == ["d0", "d2"])
        #expect(try names("unexplained=true") == ["d1"])
        #expect(try names("limit=2") == ["d0", "d1"])
        #expect(try world.object("/v1/devices?limit=2")["next"] as? String == "north/d1")
        #expect(try world.object("/v1/devices?limit=2")["total"] as? Int == 4)
        #expect(try names("limit=2&after=north/d1") == ["d2", "s"])
        #expect(try world.answer("/v1/devices?after=north").status == .badRequest)
        // A comparison of texts would sort north-a/d0 before north/d0.
        world.receive([.online("d0", "a", 102, site: "north-a")])
        #expect(try world.items("/v1/devices?limit=1&after=north/d2").map { $0["site"] as? String } == ["north-a"])
        #expect(try world.answer("/v1/devices?site=west").status == .notFound)
        #expect(try world.answer("/v1/devices?standing=well").status == .badRequest)
        #expect(try world.answer("/v1/devices?stranding=silent").status == .badRequest)
        #expect(try world.answer("/v1/devices?limit=0").status == .badRequest)
    }

    @Test func `an incident has site, devices, attribution, cause, start and end`() throws {
        let world = try HubWorld.twoSites()
        let incidents = try world.items("/v1/incidents")
        try #require(incidents.count == 1)
        let incident = incidents[0]
        #expect(incident["site"] as? String == "north")
        #expect(incident["devices"] as? [String] == ["d0", "d1"])
        #expect(incident["attribution"] as? String == "us" && incident["cause"] as? String == "link")
        #expect(incident["end"] is NSNull && incident["isUnexplained"] as? Bool == true)
        let id = try #require(incident["id"] as? String)
        let parts = try #require(try world.object("/v1/incidents/\(id)")["parts"] as? [[String: Any]])
        #expect(parts.map { $0["device"] as? String } == ["d0", "d1"])
        #expect((parts[0]["outages"] as? [[String: Any]])?.first?["id"] as? String == "o")
        // The other machine is back too and had no fault, so the common uplink had failed.
        world.receive([.online("d1", "b", 300), .event("d1", "b", 301, .caughtUp)])
        let over = try world.object("/v1/incidents/\(id)")
        #expect(over["end"] as? String != nil && over["isUnexplained"] as? Bool == false)
        #expect(try world.items("/v1/incidents?state=open").isEmpty)
        #expect(try world.object("/v1/incidents?state=open")["total"] as? Int == 0)
        #expect(try world.items("/v1/incidents?device=d1&site=north").count == 1)
        #expect(try world.object("/v1/incidents?limit=1&after=\(id)")["total"] as? Int == 1)
        #expect(try world.items("/v1/incidents?device=d2").isEmpty)
        #expect(try world.answer("/v1/incidents/none").status == .notFound)
        #expect(try world.answer("/v1/incidents?after=none").status == .badRequest)
        #expect(try world.text("/v1/incidents/\(id)").contains("  d1: silent from "))
    }

    @Test func `the duration of an incident is never negative`() throws {
        let world = try HubWorld.twoSites()
        world.setClock(at(-86_400))
        let incident = try #require(try world.items("/v1/incidents").first)
        #expect(incident["durationMilliseconds"] as? Int == 0)
        #expect(try world.text("/v1/incidents").contains(" for 0s"))
    }

    @Test func `a site has the number of machines by state`() throws {
        let world = try HubWorld.twoSites()
        let sites = try world.items("/v1/sites")
        #expect(sites.map { $0["site"] as? String } == ["north", "south"])
        #expect(sites[0]["online"] as? Int == 2 && sites[0]["silent"] as? Int == 1)
        #expect(sites[0]["unexplained"] as? Int == 1 && (sites[0]["incidents"] as? [String])?.count == 1)
        let status = try world.object("/v1/status")
        #expect((status["devices"] as? [String: Any])?["online"] as? Int == 3)
        #expect((status["incidents"] as? [[String: Any]])?.count == 1)
    }

    @Test func `the hub is ready while it is connected to the broker`() throws {
        let world = try HubWorld.twoSites()
        #expect(try world.answer("/healthz").status == .ok)
        let answer = try world.answer("/readyz")
        #expect(answer.status == .serviceUnavailable)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("\"ready\":false"))
    }

    @Test func `metrics count machines by site and incidents by fault`() throws {
        let world = try HubWorld.twoSites()
        world.receive([
            .online("d1", "b", 300), .event("d1", "b", 301, .caughtUp),
            Hub.Message(topic: "reach/v1/north/d1/event", payload: Array("{".utf8), time: at(302)),
        ])
        let text = try world.text("/metrics")
        #expect(text.contains("reachability_fleet_devices{site=\"north\",standing=\"online\"} 3\n"))
        #expect(text.contains("reachability_fleet_incidents_total{attribution=\"us\",cause=\"link\"} 1\n"))
        #expect(text.contains("reachability_fleet_open_incidents{site=\"north\"} 0\n"))
        #expect(text.contains("reachability_fleet_refused_messages_total 1\n"))
    }

    @Test func `deleting a machine requires permission`() async throws {
        let world = try HubWorld.twoSites()
        let path = "/v1/devices/north/d1"
        #expect(try world.answer(path, .DELETE, [("Host", "localhost")], peer: .loopback).status == .forbidden)
        #expect(try world.answer(path, .POST).status == .methodNotAllowed)
        // The broker would restore the machine.
        #expect(try world.answer(path, .DELETE).status == .serviceUnavailable)
        let connection = try await world.connect()
        #expect(try world.answer(path, .DELETE).status == .noContent)
        #expect(try world.answer(path).status == .notFound)
        #expect(try world.answer(path, .DELETE).status == .notFound)
        #expect(try world.items("/v1/incidents").first?["devices"] as? [String] == ["d0"])
        #expect(try world.answer("/v1/devices/north/d0", .DELETE).status == .noContent)
        #expect(try world.items("/v1/incidents").isEmpty)
        // The machine is added again as a new one.
        world.receive([.online("d1", "c", 400)])
        #expect(try world.object(path)["standing"] as? String == "online")
        // A machine that is online receives a request for its state.
        #expect(connection.published.allSatisfy { $0.topic != "reach/v1/north/d1/cmd" })
        #expect(try world.answer(path, .DELETE).status == .noContent)
        #expect(connection.published.last?.topic == "reach/v1/north/d1/cmd")
        await world.follower.stop()
    }

    @Test func `all machines of a site or with a name can be deleted`() async throws {
        let world = try HubWorld.twoSites()
        world.receive((0..<50).map { .online("s", "a", 300, site: "made-up-\($0)") })
        let connection = try await world.connect()
        #expect(try world.answer("/v1/devices?site=north", .DELETE, peer: .local(user: 4242)).status == .forbidden)
        #expect(try world.answer("/v1/devices", .DELETE).status == .badRequest)
        #expect(try world.answer("/v1/devices?standing=online", .DELETE).status == .badRequest)
        #expect(try world.answer("/v1/devices?site=north&device=none", .DELETE).status == .ok)
        #expect(try world.items("/v1/devices").count == 54)
        let answer = try world.answer("/v1/devices?device=s", .DELETE, [("Accept", "text/plain")])
        #expect(String(decoding: answer.body, as: UTF8.self) == "51 machines deleted\n")
        #expect(try world.items("/v1/devices").map { $0["site"] as? String } == ["north", "north", "north"])
        let topics = Set(connection.published.filter { $0.payload.isEmpty }.map(\.topic))
        #expect(topics.count == 51 && topics.contains("reach/v1/south/s/state"))
        #expect(try world.answer("/v1/devices?site=north", .DELETE).status == .ok)
        #expect(try world.items("/v1/devices").isEmpty && world.items("/v1/incidents").isEmpty)
        await world.follower.stop()
    }

    @Test func `metrics have series for 1,000 sites and one for the others`() throws {
        let world = try HubWorld.twoSites()
        world.receive((0..<1100).map { .online("d\($0)", "a", 300, site: "made-up-\($0)") })
        let text = try world.text("/metrics")
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("reachability_fleet_devices{") }
        #expect(lines.count == 1001 * DevicePresence.Standing.allCases.count)
        #expect(lines.contains(#"reachability_fleet_devices{site="north",standing="online"} 2"#))
        #expect(lines.contains(#"reachability_fleet_devices{site="(other)",standing="online"} 102"#))
    }

    @Test func `an unknown site is an error`() throws {
        let world = try HubWorld.twoSites()
        #expect(try world.answer("/v1/incidents?site=west").status == .notFound)
        #expect(try world.answer("/v1/incidents?site=south").status == .ok)
    }

    @Test func `a hub whose messages the broker refuses is not ready`() async throws {
        let world = try HubWorld()
        let connection = try await world.connect()
        #expect(try world.answer("/readyz").status == .ok)
        connection.listener(.published(PublishToken(1), .notAuthorized))
        try #require(try await eventually { world.follower.status.problem != nil })
        #expect(try world.answer("/readyz").status == .serviceUnavailable)
        let page = String(decoding: try world.answer("/").body, as: UTF8.self)
        #expect(page.contains("refuses messages of the hub: not authorized; check the broker"))
        await world.follower.stop()
    }

    @Test func `each decision is an event and repeated changes are merged`() throws {
        let world = try HubWorld.twoSites()
        let events = try world.items("/v1/events")
        #expect(events.first?["event"] as? String == "device")
        let kinds = events.compactMap { $0["event"] as? String }.filter { $0.hasPrefix("incident") }
        #expect(kinds.first == "incidentOpened" && !kinds.contains("incidentClosed"))
        let last = try #require(events.last?["id"] as? String)
        world.receive([.online("d1", "b", 300), .event("d1", "b", 301, .caughtUp)])
        let next = try world.items("/v1/events?after=\(last)")
        #expect(next.compactMap { $0["event"] as? String } == ["device", "incidentClosed"])
        let incident = next.last?["incident"] as? [String: Any]
        #expect(incident?["end"] is String)
        // An invalid parameter is reported before a missing resource.
        #expect(try world.answer("/v1/events?after=elsewhere.1").status == .gone)
        #expect(try world.answer("/v1/events?after=elsewhere.1&wait=soon").status == .badRequest)
        #expect(try world.answer("/v1/events?after=elsewhere.1&limit=0").status == .badRequest)
        // A repeated state causes no event.
        world.receive([.online("d1", "b", 600)])
        #expect(try world.items("/v1/events").count == events.count + 2)
    }
}
