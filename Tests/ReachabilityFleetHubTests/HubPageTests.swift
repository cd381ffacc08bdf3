import Foundation
import LinuxSupport
import NIOHTTP1
import ReachabilityFleet
import Testing

@testable import ReachabilityFleetHub
@testable import ReachabilityService

/// The dashboard of a hub.
@Suite struct HubPageTests {
    private static func page(_ world: HubWorld, _ path: String, _ status: HTTPResponseStatus = .ok) throws -> String {
        let answer = try world.answer(path)
        #expect(answer.status == status)
        #expect(answer.headers.contains { $0.name == "Content-Security-Policy" })
        return String(decoding: answer.body, as: UTF8.self)
    }

    @Test func `machines that are silent for an unknown reason come first`() throws {
        let text = try Self.page(HubWorld.twoSites(north: ["d0", "d1"]), "/")
        let silent = try #require(text.firstRange(of: "Silent for an unknown reason"))
        let sites = try #require(text.firstRange(of: ">Sites<"))
        #expect(silent.lowerBound < sites.lowerBound)
        #expect(text[silent.upperBound..<sites.lowerBound].contains("north/d1"))
        #expect(text.contains("./sites/south") && text.contains(">Link down at north</b>"))
        let wall = try Self.page(HubWorld.twoSites(), "/?kiosk")
        #expect(wall.contains("<body class=\"wall\">") && !wall.contains("/incidents/"))
    }

    @Test func `an incident has a timeline and the reason of each absence`() throws {
        let world = try HubWorld.twoSites(north: ["d0", "d1"])
        let id = try #require(try world.items("/v1/incidents").first?["id"] as? String)
        let text = try Self.page(world, "/incidents/\(id)")
        #expect(text.contains("Link down at north, 2 machines") && text.contains(">the machine</span>"))
        #expect(text.contains("its link was down") && text.contains("reason not known yet"))
        #expect(text.contains("aria-label=\"d0: its link was down\""))
        #expect(try Self.page(world, "/incidents").contains(id))
    }

    @Test func `each page with a bar has a legend, in which no machine is called "this machine"`() throws {
        let world = try HubWorld.twoSites(north: ["d0", "d1"])
        let id = try #require(try world.items("/v1/incidents").first?["id"] as? String)
        for path in ["/", "/sites/north", "/incidents/\(id)"] {
            let text = try Self.page(world, path)
            #expect(text.contains("</svg>the machine</li>"), "\(path)")
            #expect(!text.contains("this machine"), "\(path)")
        }
    }

    @Test func `a site shows its machines and a machine shows its details`() throws {
        let world = try HubWorld.twoSites(north: ["d0", "d1"])
        #expect(try Self.page(world, "/sites/north").contains("north: 1 of 2 machines is silent."))
        #expect(try Self.page(world, "/sites/south").contains("south: The machine is online."))
        let device = try Self.page(world, "/devices/north/d1")
        #expect(device.contains("d1 is silent, reason not known yet"))
        #expect(try Self.page(world, "/devices/north/d0").contains("its link was down"))
        for path in ["/sites/west", "/devices/north/none", "/incidents/none"] {
            #expect(try Self.page(world, path, .notFound).contains("Page not found"))
        }
        #expect(try world.answer("/?window=1h").status == .badRequest)
    }

    @Test func `the headline contains the numbers of affected machines and sites`() async throws {
        let world = try HubWorld()
        try await world.connect()
        world.receive([
            .online("d0", "a", 0), .online("d1", "a", 1), .online("s", "a", 3, site: "south"), .will("d1", "a", 101),
        ])
        #expect(try Self.page(world, "/").contains("1 of 3 machines is silent, at 1 of 2 sites"))
        world.receive([.online("d1", "b", 300), .event("d1", "b", 301, .caughtUp)])
        #expect(try Self.page(world, "/").contains("All 3 machines are online"))
        world.receive([.event("d0", "a", 302, .outage(outage("p", 301, nil)), number: 8), .will("d1", "b", 303)])
        #expect(try Self.page(world, "/").contains("1 of 3 machines is without link, 1 silent, at 1 of 2 sites"))
    }

    @Test func `the bar of a site shows its machines by state`() throws {
        let world = try HubWorld.twoSites(north: ["d0", "d1"])
        world.receive([.event("d0", "b", 302, .outage(outage("p", 301, nil)), number: 8)])
        let text = try Self.page(world, "/sites/north")
        let bar = try #require(text.firstRange(of: "class=\"bar\"").map { text[$0.upperBound...].prefix(400) })
        // d0 is online and has lost its link. The reason for the silence of d1 is not known.
        #expect(bar.contains("<rect class=\"s-us\" x=\"0%\" width=\"50%\""))
        #expect(bar.contains("<rect class=\"s-unknown\" x=\"50%\" width=\"50%\""))
        #expect(bar.contains("<rect class=\"cut\" x=\"50%\""))
    }

    @Test func `machines are listed in pages, by site and by state`() throws {
        let world = try HubWorld.twoSites(north: ["d0", "d1"])
        let all = try Self.page(world, "/devices")
        #expect(all.contains("<h1 data-say=\"3 machines\">"))
        // Silent machines come first.
        let places = ["north/d1", "north/d0", "south/s"].compactMap {
            all.firstRange(of: "devices/\($0)\"")?.lowerBound
        }
        #expect(places.count == 3 && places == places.sorted())
        #expect(all.contains("<a href=\"./devices?standing=silent\">1 silent</a>"))
        #expect(try Self.page(world, "/devices?standing=silent").contains("1 of 3 machines is silent"))
        #expect(!(try Self.page(world, "/devices?site=south").contains("d1")))
        let first = try Self.page(world, "/devices?limit=2")
        #expect(first.contains("href=\"./devices?after=north%2Fd0\">1 more<"))
        let last = try Self.page(world, "/devices?limit=2&after=north/d0")
        #expect(last.contains("devices/south/s\"") && !last.contains("devices/north/d0\""))
        for query in ["standing=well", "after=north", "window=1h"] {
            #expect(try world.answer("/devices?\(query)").status == .badRequest)
        }
    }

    @Test func `a machine is drawn as up between its outages`() throws {
        let world = try HubWorld()
        world.writer.brokerConnected()
        world.receive([
            .online("d0", "a", 0), .event("d0", "a", 50, .outage(outage("o", 10, 20)), number: 1),
            .event("d0", "a", 51, .outage(outage("p", 21, 30)), number: 2), .event("d0", "a", 52, .caughtUp),
        ])
        let id = try #require(try world.items("/v1/incidents").first?["id"] as? String)
        let text = try Self.page(world, "/incidents/\(id)")
        // There is a margin of 2 s on both sides of 20 s, in 700 columns. The outages begin and end within columns.
        #expect(
            text.contains(
                "<path class=\"s-us\" fill=\"url(#p-us)\" d=\"m58 9h1v17h-1zm1 -9h291v26h-291zm320 4h1v22h-1z"
            )
        )
        #expect(text.contains("<path class=\"s-up\" d=\"m0 0h58v26h-58zm58 0h1v9h-1zm292 0h29v26h-29z"))
    }

    @Test func `the recipients of notifications and their states are shown`() throws {
        let world = try HubWorld.twoSites(north: ["d0", "d1"])
        #expect(!(try Self.page(world, "/").contains("Notifications")))
        var status = NotifierStatus(name: "<b>", channel: "webhook")
        (status.pending, status.failure) = (2, "503")
        world.told.withLock { $0 = [status] }
        #expect(try Self.page(world, "/").contains("<dt>&lt;b&gt;</dt><dd>webhook: 0 delivered, 2 pending"))
        let notifiers = try #require(try world.object("/v1/status")["notifiers"] as? [[String: Any]])
        #expect(notifiers.first?["name"] as? String == "<b>" && notifiers.first?["failure"] as? String == "503")
    }

    @Test func `text from machines is escaped`() throws {
        let world = try HubWorld()
        let hostile = "<script>alert(1)</script>\u{202e}"
        var report = report(0, boot: hostile)
        report.reason = hostile
        let state = DeviceState(session: "a", standing: .leaving, report: report)
        world.receive([
            .online("d0", "a", 0), Hub.Message(topic: "reach/v1/north/d0/state", payload: state.bytes, time: at(1)),
        ])
        for path in ["/", "/sites/north", "/devices/north/d0"] {
            let text = try Self.page(world, path)
            #expect(!text.contains("<script>alert") && !text.contains("\u{202e}"))
        }
        #expect(try Self.page(world, "/devices/north/d0").contains("&lt;script&gt;"))
    }

    @Test func `the overview of ten thousand machines is limited in size`() throws {
        let world = try HubWorld()
        world.writer.brokerConnected()
        for start in stride(from: 0, to: 10_000, by: 5_000) {
            world.receive(
                (start..<start + 5_000).map { Hub.Message.online("d\($0)", "a", 0, site: "s\($0 % 300)") }
            )
        }
        world.receive((0..<2_000).map { Hub.Message.will("d\($0)", "a", 10, site: "s\($0 % 300)") })
        for path in ["/", "/sites/s7", "/incidents"] { #expect(try Self.page(world, path).utf8.count < 200_000) }
    }
}
