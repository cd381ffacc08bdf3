import LinuxPrimitives
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService
import Testing

@testable import ReachabilityServer

/// Maintenance that is announced while the service runs.
@Suite struct MaintenanceTests {
    private let world: APIWorld

    init() throws {
        world = try APIWorld(targets: ["internet", "erp"])
    }

    private func put(_ id: String, _ body: String, user: UInt32 = 0) throws -> WebAnswer {
        try world.answer("/v1/maintenance/\(id)", .PUT, way: .local(user: user), body: body)
    }

    private func states() throws -> [String] {
        world.flush()
        return try world.items("/v1/targets").compactMap { $0["state"] as? String }
    }

    @Test func `it begins, counts for nobody, and ends when it is taken back`() throws {
        #expect(try put("switch", #"{"for":"1h","targets":["erp"]}"#).status == .created)
        #expect(try states() == ["maintenance", "up"])
        world.lose(for: .seconds(10))
        #expect(try world.items("/v1/outages").map { $0["target"] as? String } == ["internet"])
        let item = try #require(try world.items("/v1/maintenance").first)
        #expect(item["id"] as? String == "switch" && item["author"] as? String == "root")
        #expect(item["targets"] as? [String] == ["erp"])
        #expect(try world.text("/v1/maintenance", [("Accept", "text/plain")]).contains("erp, 2023-11-14T"))
        #expect(try world.answer("/v1/maintenance/switch", .DELETE, way: .local(user: 0)).status == .noContent)
        #expect(try states() == ["up", "up"])
        #expect(try world.items("/v1/maintenance").isEmpty)
        #expect(try world.answer("/v1/maintenance/switch").status == .notFound)
        #expect(try world.answer("/v1/maintenance/switch", .DELETE, way: .local(user: 0)).status == .notFound)
        let events = try world.items("/v1/events?limit=1000").compactMap { $0["event"] as? String }
        #expect(events.filter { $0.hasPrefix("maintenance") } == ["maintenancePlanned", "maintenanceCancelled"])
    }

    @Test func `it can be announced for later, and anew`() throws {
        #expect(try put("w", #"{"for":"1h","from":"2030-01-01T00:00:00Z"}"#).status == .created)
        #expect(try states() == ["up", "up"])
        #expect(try put("w", #"{"for":"10s"}"#).status == .ok)
        #expect(try states() == ["maintenance", "maintenance"])
        world.kernel.clock.advance(by: .seconds(11))
        #expect(try states() == ["up", "up"])
        #expect(try world.items("/v1/maintenance").isEmpty)
    }

    @Test(arguments: [
        ("a", "{}", "for is how long"), ("a", #"{"for":"0s"}"#, "for is how long"),
        ("a", #"{"for":"32d"}"#, "for is how long"), ("a", #"{"for":3}"#, "for is a text"),
        ("a", #"{"for":"1h","from":"tomorrow"}"#, "from is a time"),
        ("a", #"{"for":"1h","from":"2001-01-01T00:00:00Z"}"#, "over already"),
        ("a", #"{"for":"1h","targets":"erp"}"#, "targets is a list"), ("a", #"{"for":"1h","x":1}"#, "no key"),
        ("a%20b", #"{"for":"1h"}"#, "the name of maintenance"), ("a", "[]", "the body is a JSON object"),
    ])
    func `what is wrong is said`(id: String, body: String, text: String) throws {
        let answer = try put(id, body)
        #expect(answer.status == .badRequest)
        #expect(String(decoding: answer.body, as: UTF8.self).contains(text))
        #expect(try world.items("/v1/maintenance").isEmpty)
    }

    @Test func `only who may do so announces it, of targets that there are, and not without end`() throws {
        let body = #"{"for":"1h"}"#
        #expect(try put("a", body, user: 4711).status == .forbidden)
        let remote = try world.answer("/v1/maintenance/a", .PUT, [("Host", "localhost")], way: .loopback, body: body)
        #expect(remote.status == .forbidden)
        #expect(try put("a", #"{"for":"1h","targets":["x"]}"#).status == .notFound)
        for number in 0..<100 { #expect(try put("n\(number)", body).status == .created) }
        #expect(try put("one-more", body).status == .conflict)
        #expect(try put("n7", body).status == .ok)
        let refusal = try world.answer("/v1/maintenance", .POST)
        #expect(refusal.status == .methodNotAllowed)
        let allowed = try world.answer("/v1/maintenance/a", .OPTIONS).headers.first { $0.name == "Allow" }?.value
        #expect(allowed == "GET, HEAD, PUT, DELETE, OPTIONS")
    }
}
