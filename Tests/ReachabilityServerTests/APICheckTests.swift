import Foundation
import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// Checks in the API, and requests for a check.
@Suite struct APICheckTests {
    /// A world whose target `erp` has checks. The test provides the results.
    private func makeWorld() throws -> APIWorld {
        let world = try APIWorld(targets: ["internet"])
        world.watch(ServiceTarget(name: "erp", host: nil, checks: CheckSettings([.init(nil)])))
        return world
    }

    private func find(_ world: APIWorld, _ finding: CheckFinding, taking length: Duration = .milliseconds(20)) {
        guard let turn = world.service.state.withLock({ $0.checks["erp"]?.turn }) else { return }
        world.kernel.clock.advance(by: length)
        let now = world.kernel.clock.boot
        _ = world.service.take(finding, of: "erp", turn, from: now - length, to: now)
        world.flush()
    }

    private static let good = CheckFinding(
        "works",
        "targetAnswers",
        sentence: "erp.example answers",
        steps: [.init(kind: "verdict", state: "ok", summary: "works: erp.example answers", remedy: nil)],
        latency: .microseconds(1500)
    )
    private static let refused = CheckFinding(
        "service",
        "refused",
        sentence: "erp.example refuses the <connection>",
        steps: [
            .init(kind: "host", state: "broken", summary: "192.0.2.80:443 refuses", remedy: nil),
            .init(
                kind: "verdict",
                state: "broken",
                summary: "service: erp.example refuses the <connection>",
                remedy: nil
            ),
        ]
    )

    @Test func `a target includes the result of its last check`() throws {
        let world = try makeWorld()
        #expect(try world.object("/v1/targets/erp")["check"] is NSNull)
        #expect(try world.object("/v1/targets/erp")["state"] as? String == "unknown")
        find(world, Self.good)
        let target = try world.object("/v1/targets/erp")
        #expect(target["basis"] as? String == "path+checks")
        let check = try #require(target["check"] as? [String: Any])
        #expect(check["place"] as? String == "works")
        #expect(check["reason"] as? String == "targetAnswers")
        #expect(check["confidence"] as? String == "proven")
        #expect(check["sentence"] as? String == "erp.example answers")
        #expect(check["durationMilliseconds"] as? Int == 20)
        #expect(check["latencyMicroseconds"] as? Int == 1500)
        #expect((target["latestChecks"] as? [Any])?.count == 1)
        #expect(try world.object("/v1/targets/internet")["latestChecks"] == nil)
    }

    @Test func `an outage includes the evidence of the check, and pages its sentence`() throws {
        let world = try makeWorld()
        find(world, Self.good)
        find(world, Self.refused)
        find(world, Self.refused)
        let outage = try #require(try world.items("/v1/outages").first)
        #expect(outage["attribution"] as? String == "them")
        #expect(outage["cause"] as? String == "refused")
        #expect(outage["basis"] as? String == "path+checks")
        #expect(outage["uncertaintyMilliseconds"] as? Int == 20)
        let id = try #require(outage["id"] as? String)
        #expect(
            try world.text("/v1/outages/\(id)", [("Accept", "text/plain")]).contains("service: erp.example refuses")
        )
        for page in ["/", "/targets/erp"] {
            #expect(try world.text(page).contains("erp.example refuses the &lt;connection&gt;."), "\(page)")
        }
        let page = try world.text("/outages/\(id)")
        #expect(page.contains("refuses the &lt;connection&gt;"))
        #expect(page.contains("Evidence from the kernel and checks"))
        #expect(try world.text("/targets/erp").contains("aria-label=\"Latency in the last"))
        #expect(try !world.text("/targets/internet").contains(">Checks "))
    }

    @Test func `the statistics of checks are a paginated list`() throws {
        let world = try makeWorld()
        for _ in 0..<3 { find(world, Self.good) }
        find(world, Self.refused)
        world.kernel.clock.advance(by: .seconds(600))
        find(world, Self.good)
        let items = try world.items("/v1/targets/erp/checks")
        #expect(items.map { $0["checks"] as? Int } == [1, 4])
        #expect(items[1]["failures"] as? [String: Int] == ["refused": 1])
        #expect(items[1]["failed"] as? Int == 1)
        #expect(
            items[1]["latencyMicroseconds"] as? [String: Int] == [
                "min": 1500, "median": 1500, "p95": 1500, "max": 1500,
            ]
        )
        let first = try world.object("/v1/targets/erp/checks?limit=1")
        let next = try #require(first["next"] as? String)
        #expect(try world.items("/v1/targets/erp/checks?limit=1&after=\(next)").map { $0["checks"] as? Int } == [4])
        #expect(try world.items("/v1/targets/internet/checks").isEmpty)
        #expect(try world.answer("/v1/targets/nobody/checks").status == .notFound)
        #expect(try world.answer("/v1/targets/erp/checks?after=x").status == .badRequest)
    }

    @Test func `administrators may request a check once a second`() throws {
        let world = try makeWorld()
        func post(_ target: String) throws -> HTTPResponseStatus {
            try world.answer("/v1/targets/\(target)/check", .POST, peer: .local(user: 0)).status
        }
        #expect(try post("erp") == .accepted)
        #expect(try post("erp") == .tooManyRequests)
        world.kernel.clock.advance(by: .seconds(1))
        #expect(try post("erp") == .accepted)
        #expect(try post("internet") == .conflict)
        #expect(try post("nobody") == .notFound)
        world.setCarrier(false, after: .seconds(1))
        #expect(try post("erp") == .conflict)
    }

    @Test func `the end of a certificate is published`() throws {
        let world = try makeWorld()
        find(world, Self.good)
        #expect(try !world.text("/metrics").contains("certificate_end"))
        var secure = Self.good
        secure.certificateEnd = .seconds(1_800_000_000)
        find(world, secure)
        let line = "reachability_target_certificate_end_timestamp_seconds{target=\"erp\"} 1800000000\n"
        #expect(try world.text("/metrics").contains(line))
        let check = try #require(try world.object("/v1/targets/erp")["check"] as? [String: Any])
        #expect(check["certificateEnd"] as? String == "2027-01-15T08:00:00.000Z")
    }

    @Test func `metrics include the number and duration of checks`() throws {
        let world = try makeWorld()
        #expect(try !world.text("/metrics").contains("reachability_check"))
        find(world, Self.good)
        find(world, Self.refused)
        let text = try world.text("/metrics")
        for line in [
            "reachability_checks_total{target=\"erp\",result=\"works\"} 1",
            "reachability_checks_total{target=\"erp\",result=\"service\"} 1",
            "# TYPE reachability_check_duration_seconds histogram",
            "reachability_check_duration_seconds_bucket{target=\"erp\",le=\"0.001\"} 0",
            "reachability_check_duration_seconds_bucket{target=\"erp\",le=\"0.005\"} 1",
            "reachability_check_duration_seconds_bucket{target=\"erp\",le=\"+Inf\"} 2",
            "reachability_check_duration_seconds_sum{target=\"erp\"} 0.0215",
            "reachability_check_duration_seconds_count{target=\"erp\"} 2",
        ] { #expect(text.contains(line + "\n"), "\(line)") }
    }
}

/// The explanation of the current state of a target.
@Suite struct WhyTests {
    private let world: APIWorld

    init() throws {
        world = try APIWorld()
    }

    private func account(_ object: [String: Any]) -> [String: Any] { object["account"] as? [String: Any] ?? [:] }

    @Test func `the answer contains the output of the command and the recorded state`() throws {
        let before = try world.object("/v1/why/internet")
        #expect(before["kind"] as? String == "evidence")
        #expect(before["broken"] is NSNull)
        #expect(account(before)["state"] as? String == "up")
        world.setCarrier(false, after: .seconds(2))
        let broken = try #require(try world.object("/v1/why/internet")["broken"] as? String)
        let text = try world.text("/v1/why/internet", [("Accept", "text/plain")])
        #expect(text.contains("internet: us.link (noCarrier)\n"))
        #expect(text.contains("  !! \(broken): "))
        let answer = try world.answer("/v1/why/internet")
        #expect(answer.headers.contains { $0.name == "Cache-Control" && $0.value == "no-store" })
    }

    @Test func `evidence is cached for a second, the recorded state is not`() throws {
        let first = try world.object("/v1/why/internet")
        world.setCarrier(false)
        let second = try world.object("/v1/why/internet")
        #expect(first["broken"] is NSNull)
        #expect(second["broken"] is NSNull)
        #expect(account(second)["state"] as? String == "us")
        world.kernel.clock.advance(by: EvidenceMemory.age)
        #expect(try world.object("/v1/why/internet")["broken"] is String)
    }

    @Test func `an unknown or removed target is not queried`() throws {
        #expect(try world.answer("/v1/why/x").status == .notFound)
        #expect(try world.answer("/v1/why/internet").status == .ok)
        world.service.remove("internet")
        world.flush()
        #expect(try world.answer("/v1/why/internet").status == .notFound)
        #expect(try world.answer("/v1/why/internet", .POST).status == .methodNotAllowed)
    }
}
