import Crypto
import Foundation
import LinuxSupport
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// The statement of a month.
@Suite struct StatementTests {
    /// A service of 2023-11-14T22:13:20Z with two outages of 4 s and 6 s of two targets.
    private func world() throws -> APIWorld {
        let world = try APIWorld(targets: ["a", "b"])
        for seconds in [4, 6] {
            world.kernel.clock.advance(by: .seconds(60))
            world.kernel.setCarrier("eth0", false)
            world.flush()
            world.kernel.clock.advance(by: .seconds(seconds))
            world.kernel.setCarrier("eth0", true)
            world.flush()
        }
        return world
    }

    private func json(_ world: APIWorld, _ query: String) throws -> [String: Any] {
        let answer = try world.api.answer("/v1/statement?\(query)", .GET, [("Accept", "application/json")])
        #expect(answer.status == .ok)
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    @Test func `a month has each outage of the party, and its sum counts common times once`() throws {
        let world = try world()
        let statement = try json(world, "month=2023-11&party=us")
        #expect(statement["milliseconds"] as? Int == 10_000)
        #expect(statement["atLeastMilliseconds"] as? Int ?? .max <= 10_000)
        #expect(statement["atMostMilliseconds"] as? Int ?? 0 >= 10_000)
        let rows = try #require(statement["outages"] as? [[String: Any]])
        #expect(rows.map { $0["target"] as? String } == ["a", "b", "a", "b"])
        #expect(rows.map { $0["milliseconds"] as? Int } == [4000, 4000, 6000, 6000])
        #expect(rows.allSatisfy { $0["cause"] as? String == "link" && $0["reason"] as? String == "noCarrier" })
        for row in rows {
            let id = try #require(row["outage"] as? String)
            #expect(try world.api.answer("/v1/outages/\(id)").status == .ok)
        }
        #expect((try json(world, "month=2023-11&party=us&target=a")["outages"] as? [Any])?.count == 2)
        let upstream = try json(world, "month=2023-11")
        #expect((upstream["outages"] as? [Any])?.isEmpty == true && upstream["party"] as? String == "upstream")
    }

    @Test func `time without observation is listed`() throws {
        let gaps = try #require(try json(try world(), "month=2023-11&party=us")["unobserved"] as? [[String: Any]])
        #expect(gaps.map { $0["target"] as? String } == ["a", "b"])
        // The service did not run in the first two weeks.
        #expect(gaps.allSatisfy { ($0["milliseconds"] as? Int ?? 0) > 13 * 86_400_000 })
    }

    @Test func `the digest is that of the rows as CSV`() throws {
        let world = try world()
        let csv = try world.api.answer("/v1/statement?month=2023-11&party=us&format=csv").body
        #expect(String(decoding: csv, as: UTF8.self).split(separator: "\r\n").count == 5)
        let digest = SHA256.hash(data: csv).hexadecimal()
        #expect(try json(world, "month=2023-11&party=us")["sha256"] as? String == digest)
        let page = try world.api.answer("/statement?month=2023-11&party=us")
        #expect(page.status == .ok && String(decoding: page.body, as: UTF8.self).contains(digest))
        for form in ["text", "html"] {
            let body = try world.api.answer("/v1/statement?month=2023-11&party=us&format=\(form)").body
            #expect(String(decoding: body, as: UTF8.self).contains(digest))
        }
    }

    @Test(arguments: [
        ("month=2023-13", "month must be a month such as 2026-10, not"),
        ("month=0000-01&party=you", "party must be one of"),
        ("month=%D9%A0023-01", "month must be a month"), ("target=c", "there is no target"),
        ("x=1", "unknown parameter"),
    ])
    func `a wrong parameter is named`(query: String, message: String) throws {
        let answer = try world().api.answer("/v1/statement?\(query)")
        #expect([.badRequest, .notFound].contains(answer.status))
        #expect(String(decoding: answer.body, as: UTF8.self).contains(message))
    }

    @Test(arguments: ["0000-01", "0001-01", "1677-09", "1970-01", "2023-10"])
    func `a month before the service is empty`(month: String) throws {
        let statement = try json(try world(), "month=\(month)&party=us")
        #expect((statement["outages"] as? [Any])?.isEmpty == true)
    }

    @Test(arguments: ["2023-12", "9999-12"])
    func `a month that has not begun is refused`(month: String) throws {
        let answer = try world().api.answer("/v1/statement?month=\(month)&party=us")
        #expect(answer.status == .badRequest)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("the month \(month) has not begun"))
    }
}
