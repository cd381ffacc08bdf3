import Foundation
import NIOHTTP1
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// One outage, to hand on.
@Suite struct ReportTests {
    private let world: APIWorld

    /// - Parameter name: Of the target, as bad as it may be.
    private init(_ name: String) throws {
        world = try APIWorld(targets: [name])
        world.kernel.clock.advance(by: .seconds(1))
        world.lose(for: .milliseconds(1500))
    }

    init() throws { try self.init("internet") }

    @Test func `it is to be had as text, as JSON and as a table`() throws {
        let text = try world.answer("/v1/outages/latest/report")
        let plain = try world.text("/v1/outages/latest", [("Accept", "text/plain")])
        #expect(String(decoding: text.body, as: UTF8.self) == plain)
        #expect(text.headers.contains { $0 == ("Content-Type", "text/plain; charset=utf-8") })
        #expect(try world.text("/v1/outages/latest/report?format=text") == plain)
        #expect(try world.text("/v1/outages/latest/report?format=json") == world.text("/v1/outages/latest"))
        let table = try world.text("/v1/outages/latest/report?format=csv")
        let lines = table.components(separatedBy: "\r\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("outage,target,start,end,durationMilliseconds,"))
        let id = try #require(try world.object("/v1/outages/latest")["id"] as? String)
        #expect(lines[1].hasPrefix("\(id),internet,2023-11-14T22:"))
        #expect(lines[1].hasSuffix(",1500,1000,us,link,noCarrier"))
        #expect(lines[2].isEmpty)
    }

    @Test func `what is not to be had is refused`() throws {
        #expect(try world.answer("/v1/outages/latest/report?format=pdf").status == .badRequest)
        #expect(try world.answer("/v1/outages/latest/report?from=1").status == .badRequest)
        #expect(try world.answer("/v1/outages/dn2wpp5q2ytg-1xb3dqs/report").status == .notFound)
        #expect(try world.answer("/v1/outages/latest/report", .POST).status == .methodNotAllowed)
    }

    @Test func `a table stays a table, whatever a target is called`() throws {
        let name = "=HYPERLINK(\"http://x\"),\"\u{301}\r\n"
        let table = try ReportTests(name).world.text("/v1/outages/latest/report?format=csv")
        let row = try #require(table.components(separatedBy: "\r\n").dropFirst().first)
        #expect(row.contains(",\"'=HYPERLINK(\"\"http://x\"\"),\"\"\u{301}\\u{d}\\u{a}\",2023-"))
    }

    @Test(arguments: [
        ("a", "a"), ("", ""), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("@x", "\"'@x\""),
        ("=\u{301}x", "\"'=\u{301}x\""),
        ("-1", "\"'-1\""), ("\t=1", "\\u{9}=1"),
    ])
    func `a field is quoted where it must be`(text: String, field: String) {
        #expect(Array(text.csvField.utf8) == Array(field.utf8))
    }
}
