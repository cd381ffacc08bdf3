import Foundation
import KernelLab
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// Who began an outage, over a fake kernel.
@Suite struct ActorTests {
    /// A world in which one process is known, and the changes it was asked about.
    private func world(
        _ process: ActingProcess = ActingProcess(id: 812, program: "openvpn", unit: "openvpn@site.service"),
        targets: [String] = ["internet"]
    ) throws -> (APIWorld, Locked<[Removal]>) {
        let asked = Locked<[Removal]>([])
        let world = try APIWorld(targets: targets) { removal in
            asked.withLock { $0.append(removal) }
            return removal.port == UInt32(process.id) ? process : nil
        }
        return (world, asked)
    }

    private func actor(_ world: APIWorld) throws -> [String: Any]? {
        let outage = try #require(try world.items("/v1/outages").first)
        #expect(outage.keys.contains("actor"))
        return outage["actor"] as? [String: Any]
    }

    @Test func `who deletes the route is told everywhere`() throws {
        let (world, asked) = try world()
        world.kernel.acting(from: 812) { world.kernel.removeRoute("default") }
        world.flush()
        let actor = try #require(try actor(world))
        #expect(actor["pid"] as? Int == 812)
        #expect(actor["program"] as? String == "openvpn")
        #expect(actor["unit"] as? String == "openvpn@site.service")
        #expect(asked.withLock(\.self).map(\.namespace) == [.current])
        let report = try world.text("/v1/outages/latest", [("Accept", "text/plain")])
        #expect(report.contains("the way was taken away by openvpn, pid 812, of openvpn@site.service\n"))
        let id = try #require(try world.object("/v1/outages/latest")["id"] as? String)
        #expect(
            try world.text("/outages/\(id)").contains(
                "<dt>Who did it</dt><dd><bdi>openvpn, pid 812, of openvpn@site.service</bdi></dd>"
            )
        )
        let event = try #require(try world.items("/v1/events").first { $0["event"] as? String == "actorFound" })
        #expect(event["outageID"] as? String == id)
        #expect((event["actor"] as? [String: Any])?["pid"] as? Int == 812)
    }

    @Test func `who goes on with an outage is told of that interval alone`() throws {
        let (world, _) = try world()
        // Nobody is named for the first, which leaves what refuses to send anything.
        world.kernel.addRoute("0.0.0.0/0", metric: 9, kind: .prohibit)
        world.kernel.removeRoute("default")
        world.flush()
        world.kernel.clock.advance(by: .seconds(1))
        world.kernel.acting(from: 812) { world.kernel.removeRoute("0.0.0.0/0", kind: .prohibit) }
        world.flush()
        let outage = try #require(try world.items("/v1/outages").first)
        #expect(outage["actor"] is NSNull)
        let intervals = try #require(outage["intervals"] as? [[String: Any]])
        #expect(intervals.count == 2 && intervals[0]["actor"] == nil)
        #expect((intervals[1]["actor"] as? [String: Any])?["pid"] as? Int == 812)
        let id = try #require(outage["id"] as? String)
        let report = try world.text("/v1/outages/latest", [("Accept", "text/plain")])
        #expect(report.ranges(of: ", by openvpn, pid 812, of openvpn@site.service\n").count == 1)
        #expect(!report.contains("the way was taken away by"))
        #expect(try world.text("/outages/\(id)").contains("by <bdi>openvpn, pid 812, of openvpn@site.service</bdi>"))
        let event = try #require(try world.items("/v1/events").first { $0["event"] as? String == "actorFound" })
        #expect(event["outageID"] as? String == id)
        #expect(event["intervalStart"] as? String == intervals[1]["start"] as? String)
    }

    @Test func `a program cannot steer a page or a terminal by its name`() throws {
        let (world, _) = try world(ActingProcess(id: 7, program: "<b>\u{1b}[2J\u{202e}", unit: nil))
        world.kernel.acting(from: 7) { world.kernel.removeRoute("default") }
        world.flush()
        let id = try #require(try world.object("/v1/outages/latest")["id"] as? String)
        for text in [
            try world.text("/outages/\(id)"), try world.text("/v1/outages/latest", [("Accept", "text/plain")]),
            try world.text("/v1/events", [("Accept", "text/plain")]), try world.text("/v1/outages/latest"),
        ] { #expect(!text.contains("\u{1b}") && !text.contains("\u{202e}")) }
        #expect(try world.text("/outages/\(id)").contains("&lt;b&gt;"))
    }

    @Test func `where others changed something, too, nobody is told`() throws {
        for change: (FakeKernel) -> Void in [
            // The kernel says so itself, or a link went down.
            { $0.removeRoute("default") },
            { kernel in kernel.acting(from: 812) { kernel.setCarrier("eth0", false) } },
            // Messages are missing.
            { kernel in kernel.overrun { kernel.acting(from: 812) { kernel.removeRoute("default") } } },
            // A route is put in place, not taken away.
            { kernel in
                kernel.acting(from: 812) {
                    kernel.addRoute("0.0.0.0/1", kind: .unreachable)
                    kernel.addRoute("128.0.0.0/1", kind: .unreachable)
                }
            },
        ] {
            let (world, asked) = try world()
            change(world.kernel)
            world.flush()
            #expect(try actor(world) == nil)
            #expect(asked.withLock(\.self).isEmpty)
        }
    }

    @Test func `all that fall together are asked about once`() throws {
        let (world, asked) = try world(targets: (0..<100).map { "target \($0)" })
        world.kernel.acting(from: 812) { world.kernel.removeRoute("default") }
        world.flush()
        let outages = try world.items("/v1/outages?limit=1000")
        #expect(outages.count == 100)
        #expect(outages.allSatisfy { ($0["actor"] as? [String: Any])?["pid"] as? Int == 812 })
        #expect(asked.withLock(\.count) == 1)
    }
}
