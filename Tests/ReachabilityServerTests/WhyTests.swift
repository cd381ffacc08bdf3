import Foundation
import NIOHTTP1
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// Why a target is as it is, at the moment somebody asks.
@Suite struct WhyTests {
    private let world: APIWorld

    init() throws {
        world = try APIWorld()
    }

    private func account(_ object: [String: Any]) -> [String: Any] { object["account"] as? [String: Any] ?? [:] }

    @Test func `the command's words come with what the books have`() throws {
        let before = try world.object("/v1/why/internet")
        #expect(before["kind"] as? String == "evidence")
        #expect(before["broken"] is NSNull)
        #expect(account(before)["state"] as? String == "up")
        world.kernel.clock.advance(by: .seconds(2))
        world.kernel.setCarrier("eth0", false)
        world.flush()
        let broken = try #require(try world.object("/v1/why/internet")["broken"] as? String)
        let text = try world.text("/v1/why/internet", [("Accept", "text/plain")])
        #expect(text.contains("internet: us.link (noCarrier)\n"))
        #expect(text.contains("  !! \(broken): "))
        let answer = try world.answer("/v1/why/internet")
        #expect(answer.headers.contains { $0.name == "Cache-Control" && $0.value == "no-store" })
    }

    @Test func `the kernel is asked once a second, the books each time`() throws {
        let first = try world.object("/v1/why/internet")
        world.kernel.setCarrier("eth0", false)
        world.flush()
        let second = try world.object("/v1/why/internet")
        #expect(first["broken"] is NSNull)
        #expect(second["broken"] is NSNull)
        #expect(account(second)["state"] as? String == "us")
        world.kernel.clock.advance(by: EvidenceMemory.age)
        #expect(try world.object("/v1/why/internet")["broken"] is String)
    }

    @Test func `what is not watched is not asked for, also where it was a moment ago`() throws {
        #expect(try world.answer("/v1/why/x").status == .notFound)
        #expect(try world.answer("/v1/why/internet").status == .ok)
        world.service.remove("internet")
        world.flush()
        #expect(try world.answer("/v1/why/internet").status == .notFound)
        #expect(try world.answer("/v1/why/internet", .POST).status == .methodNotAllowed)
    }
}
