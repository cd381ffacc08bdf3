import Foundation
import LinuxSupport
import NIOHTTP1
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// Maintenance that is announced while the service is running. The simulated wall clock starts at 2023-11-14T22:13:20Z.
@Suite struct PlannedMaintenanceTests {
    private let world: APIWorld

    init() throws {
        world = try APIWorld(targets: ["a", "b"])
    }

    private func put(_ id: String, _ body: String) throws -> WebAnswer {
        try world.answer("/v1/maintenance/\(id)", .PUT, peer: .local(user: 0), body: body)
    }

    private func delete(_ id: String) throws -> HTTPResponseStatus {
        try world.answer("/v1/maintenance/\(id)", .DELETE, peer: .local(user: 0)).status
    }

    private func state(_ target: String) throws -> String? {
        try world.object("/v1/targets/\(target)")["state"] as? String
    }

    @Test func `announced maintenance begins, excludes outages and ends automatically`() throws {
        let now = world.service.snapshot
        let start = Timestamp(real: now.calendar.wall(at: now.now) + .seconds(60)).text
        let answer = try put("move", #"{"targets":["a"],"from":"\#(start)","for":"2m"}"#)
        #expect(answer.status == .created)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
        #expect(object["from"] as? String == start)
        #expect(object["targets"] as? [String] == ["a"])
        #expect(object["author"] as? String == "root")
        #expect(try state("a") == "up")
        world.kernel.clock.advance(by: .seconds(61))
        world.flush()
        #expect(try state("a") == "maintenance")
        #expect(try state("b") == "up")
        world.kernel.clock.advance(by: .seconds(120))
        world.flush()
        #expect(try state("a") == "up")
        #expect(try world.items("/v1/maintenance").isEmpty)
        #expect(try delete("move") == .notFound)
        let item = try #require(try world.items("/v1/availability?window=2m&target=a").first)
        #expect((item["seconds"] as? [String: Double])?["maintenance"] == 119)
    }

    @Test func `maintenance without a start begins now, and cancelling ends it`() throws {
        #expect(try put("x", #"{"for":"1h"}"#).status == .created)
        #expect(try state("a") == "maintenance")
        #expect(try world.object("/v1/maintenance/x")["targets"] is NSNull)
        // A new announcement with the same name changes the target.
        #expect(try put("x", #"{"for":"1h","targets":["b"]}"#).status == .ok)
        #expect(try state("a") == "up")
        #expect(try state("b") == "maintenance")
        let text = try world.text("/v1/maintenance", [("Accept", "text/plain")])
        #expect(text.hasPrefix("x: b, 2023-11-14T22:"))
        #expect(text.hasSuffix(", in progress, by root\n"))
        #expect(try delete("x") == .noContent)
        #expect(try state("b") == "up")
        #expect(try delete("x") == .notFound)
        world.flush()
        let events = try world.items("/v1/events").compactMap { $0["event"] as? String }
        #expect(
            events.filter { $0.hasPrefix("maintenance") } == [
                "maintenancePlanned", "maintenancePlanned", "maintenanceCancelled",
            ]
        )
    }

    @Test func `announced and configured maintenance are independent`() throws {
        let text = """
            schema = 1
            [[target]]
            name = "a"
            at-large = true
            [[maintenance]]
            targets = ["a"]
            from = "2023-11-14T00:00:00Z"
            for = "24h"
            """
        world.service.setMaintenance(try ServiceConfiguration(text).maintenance)
        #expect(try put("x", #"{"for":"1h"}"#).status == .created)
        #expect(try state("b") == "maintenance")
        // Each window ends independently, and a reload does not change announcements.
        #expect(try delete("x") == .noContent)
        #expect(try state("a") == "maintenance")
        #expect(try state("b") == "up")
        #expect(try put("x", #"{"for":"1h"}"#).status == .created)
        world.service.setMaintenance([])
        #expect(try state("a") == "maintenance")
        #expect(try delete("x") == .noContent)
        #expect(try state("a") == "up")
    }

    @Test(arguments: [
        "", "{}", #"{"for":1}"#, #"{"for":"0s"}"#, #"{"for":"32d"}"#, #"{"for":"-1h"}"#, #"{"for":"1h","from":"now"}"#,
        #"{"for":"1h","until":"x"}"#, #"{"for":"1h","targets":"a"}"#, #"{"for":"1h","targets":[1]}"#,
        #"{"for":"1h","from":"2023-11-14T20:00:00Z"}"#, #"{"for":"1h","from":"9999-12-31T23:59:59Z"}"#,
        #"{"for":"1h","targets":[]}"#,
    ])
    func `an invalid announcement is rejected`(body: String) throws {
        #expect(try put("x", body).status == .badRequest)
        #expect(try world.items("/v1/maintenance").isEmpty)
    }

    @Test func `names, targets and the number of announcements are checked`() throws {
        for id in [".", "..", "%2e%2e", "a%20b", "%2e%2F", String(repeating: "a", count: 65), "%0a"] {
            #expect(try put(id, #"{"for":"1h"}"#).status == .badRequest, "\(id)")
        }
        #expect(try put("x", #"{"for":"1h","targets":["c"]}"#).status == .notFound)
        for number in 0..<PlannedMaintenance.countLimit {
            #expect(try put("n\(number)", #"{"for":"1h"}"#).status == .created)
        }
        #expect(try put("x", #"{"for":"1h"}"#).status == .conflict)
        #expect(try put("n1", #"{"for":"2h"}"#).status == .ok)
        #expect(try world.items("/v1/maintenance?limit=1000").count == PlannedMaintenance.countLimit)
    }
}
