import Foundation
import KernelLab
import LinuxSupport
import NIOHTTP1
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityLedger
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// The report of an outage.
@Suite struct ReportTests {
    private let world: APIWorld

    /// - Parameter name: The name of the target, which may have any characters.
    private init(_ name: String) throws {
        world = try APIWorld(targets: [name])
        world.kernel.clock.advance(by: .seconds(1))
        world.lose(for: .milliseconds(1500))
    }

    init() throws { try self.init("internet") }

    @Test func `a report is available as text, JSON and CSV`() throws {
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

    @Test func `an unknown format or outage is rejected`() throws {
        #expect(try world.answer("/v1/outages/latest/report?format=pdf").status == .badRequest)
        #expect(try world.answer("/v1/outages/latest/report?from=1").status == .badRequest)
        #expect(try world.answer("/v1/outages/dn2wpp5q2ytg-1xb3dqs/report").status == .notFound)
        #expect(try world.answer("/v1/outages/latest/report", .POST).status == .methodNotAllowed)
    }

    @Test func `names of targets cannot break a CSV table`() throws {
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
    func `a CSV field is quoted if necessary`(text: String, field: String) {
        #expect(Array(text.csvField.utf8) == Array(field.utf8))
    }
}

/// Notes on outages.
@Suite struct NoteTests {
    private let world: APIWorld
    private let id: String

    init() throws {
        world = try APIWorld()
        world.lose(for: .seconds(2))
        id = try #require(try world.items("/v1/outages").first?["id"] as? String)
    }

    private func write(_ body: String, to id: String? = nil) throws -> WebAnswer {
        try world.answer("/v1/outages/\(id ?? self.id)/note", .POST, peer: .local(user: 0), body: body)
    }

    @Test func `a note appears in the outage, its report, its page and the events`() throws {
        let answer = try write(
            #"{"text":"<b>Ann</b> pulled it\nand \u202e\u001b[2J no"}"#.replacing("\\u001b", with: "")
        )
        #expect(answer.status == .created)
        let made = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
        #expect(made["outage"] as? String == id)
        #expect(made["author"] as? String == "root")
        let text = "<b>Ann</b> pulled it\nand \u{202e}[2J no"
        let notes = try #require(try world.object("/v1/outages/latest")["notes"] as? [[String: Any]])
        #expect(notes.map { $0["text"] as? String } == [text])
        #expect(try #require(try world.items("/v1/outages").first?["notes"] as? [Any]).count == 1)
        let report = try world.text("/v1/outages/\(id)", [("Accept", "text/plain")])
        #expect(report.contains("Z note of root: <b>Ann</b> pulled it\n  and \\u{202e}[2J no\n"))
        let page = try world.text("/outages/\(id)")
        #expect(page.contains("&lt;b&gt;Ann&lt;/b&gt; pulled it"))
        #expect(page.contains("and \\u{202e}[2J no"))
        world.flush()
        let event = try #require(try world.items("/v1/events").last)
        #expect(event["event"] as? String == "noted")
        #expect(event["outageID"] as? String == id)
        #expect((event["note"] as? [String: Any])?["text"] as? String == text)
    }

    @Test func `a note is answered as text if the client prefers it`() throws {
        let headers = [("Host", "localhost"), ("Accept", "text/plain")]
        let answer = try world.answer(
            "/v1/outages/latest/note",
            .POST,
            headers,
            peer: .local(user: 0),
            body: #"{"text":"it rained"}"#
        )
        #expect(answer.status == .created)
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.hasPrefix("\(id): ") && text.hasSuffix("Z note of root: it rained\n"), "\(text)")
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"text":1}"#, #"{"text":""}"#, #"{"text":"a","by":"me"}"#, #"{"text":"\u0000"}"#,
        #"{"text":"\u001b[2J"}"#, #"{"text":"\ud800"}"#,
    ])
    func `an invalid note is rejected`(body: String) throws {
        #expect(try write(body).status == .badRequest)
    }

    @Test func `the length and number of notes are limited`() throws {
        func body(_ count: Int) -> String { "{\"text\":\"\(String(repeating: "ä", count: count))\"}" }
        #expect(try write(body(OutageNote.textLimit)).status == .created)
        #expect(try write(body(OutageNote.textLimit + 1)).status == .badRequest)
        for _ in 1..<OutageNote.countLimit { #expect(try write(body(1)).status == .created) }
        #expect(try write(body(1)).status == .conflict)
    }

    @Test func `a note on an unknown outage is rejected`() throws {
        #expect(try write(#"{"text":"x"}"#, to: "dn2wpp5q2ytg-1xb3dqs").status == .notFound)
    }
}

/// The actors of outages with a fake kernel.
@Suite struct ActorTests {
    /// Returns a world in which one process is found, and the removals that were searched.
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

    @Test func `the process that deletes a route appears in the outage, report, page and events`() throws {
        let (world, asked) = try world()
        world.kernel.acting(from: 812) { world.kernel.removeRoute("default") }
        world.flush()
        let actor = try #require(try actor(world))
        #expect(actor["pid"] as? Int == 812)
        #expect(actor["program"] as? String == "openvpn")
        #expect(actor["unit"] as? String == "openvpn@site.service")
        #expect(asked.withLock(\.self).map(\.namespace) == [.current])
        let report = try world.text("/v1/outages/latest", [("Accept", "text/plain")])
        #expect(report.contains("the path was removed by openvpn, pid 812, of openvpn@site.service\n"))
        let id = try #require(try world.object("/v1/outages/latest")["id"] as? String)
        let page = try world.text("/outages/\(id)")
        #expect(page.contains("<dt>Caused by</dt><dd><bdi>openvpn, pid 812, of openvpn@site.service</bdi></dd>"))
        for word in ["us.route", "noRoute", "notReached"] { #expect(!page.contains(word), "\(word)") }
        let event = try #require(try world.items("/v1/events").first { $0["event"] as? String == "actorFound" })
        #expect(event["outageID"] as? String == id)
        #expect((event["actor"] as? [String: Any])?["pid"] as? Int == 812)
    }

    @Test func `the page of an outage has the difference and the command that restores it`() throws {
        typealias Step = EvidenceRecord.Step
        let (zero, start) = (LedgerInstant(nanoseconds: 0), LedgerInstant(nanoseconds: 10))
        func outage(
            _ route: String,
            _ none: String = "none",
            reason: String = "noRoute",
            kind: String = "route"
        ) throws -> ExplainedOutage {
            let before = [
                Step(kind: "address", state: "ok", summary: "192.0.2.9 decides", remedy: nil),
                Step(kind: "gateway", state: "ok", summary: "192.0.2.1 answers (0.42 ms)", remedy: nil),
                Step(kind: kind, state: "ok", summary: route, remedy: nil),
            ]
            let during = [
                before[0], Step(kind: "gateway", state: "ok", summary: "192.0.2.1 answers (7.00 ms)", remedy: nil),
                Step(kind: kind, state: "broken", summary: none, remedy: "add a route"),
                Step(kind: "source", state: "notReached", summary: "not reached", remedy: nil),
            ]
            let entries: [HistoryStore.Entry] = [
                .init(
                    interval: LedgerInterval(TargetState(.up), from: zero, to: start),
                    evidence: EvidenceRecord(interval: zero, instant: zero, steps: before)
                ),
                .init(
                    interval: LedgerInterval(TargetState(.us, .route), from: start, to: nil, reason: reason),
                    evidence: EvidenceRecord(interval: start, instant: start, steps: during)
                ),
            ]
            let explained = ExplainedOutage(of: "a", from: start, entries)
            return try #require(explained)
        }
        let route = "default via 192.0.2.1 dev eth0 table main metric 100"
        let changes = try outage(route).changes
        #expect(changes.map(\.kind) == ["route"] && changes.first?.before == route && changes.first?.during == "none")
        #expect(try outage(route).undo == "ip route replace \(route)")
        #expect(try outage("default via fe80::1 dev eth0").undo == "ip route replace default via fe80::1 dev eth0")
        #expect(try outage("default via 192.0.2.1 dev eth0;reboot").undo == nil)
        #expect(try outage("default over one of 2 next hops").undo == nil)
        let link = try outage("eth0 (wired) up, carrier", "eth0 (wired) down", reason: "linkDown", kind: "link")
        #expect(link.undo == "ip link set eth0 up")
    }

    @Test func `the actor of a later interval appears only with that interval`() throws {
        let (world, _) = try world()
        // The process of the first removal is not known. The remaining route rejects packets.
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
        #expect(!report.contains("the path was removed by"))
        #expect(try world.text("/outages/\(id)").contains("by <bdi>openvpn, pid 812, of openvpn@site.service</bdi>"))
        let event = try #require(try world.items("/v1/events").first { $0["event"] as? String == "actorFound" })
        #expect(event["outageID"] as? String == id)
        #expect(event["intervalStart"] as? String == intervals[1]["start"] as? String)
    }

    @Test func `control characters in the name of a program are escaped`() throws {
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

    @Test func `no actor is reported if other causes are possible`() throws {
        for change: (FakeKernel) -> Void in [
            // The kernel made the change itself, or a link went down.
            { $0.removeRoute("default") },
            { kernel in kernel.acting(from: 812) { kernel.setCarrier("eth0", false) } },
            // Netlink messages were lost.
            { kernel in kernel.overrun { kernel.acting(from: 812) { kernel.removeRoute("default") } } },
            // A route is added, not removed.
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

    @Test func `one search serves all targets that fail together`() throws {
        let (world, asked) = try world(targets: (0..<100).map { "target \($0)" })
        world.kernel.acting(from: 812) { world.kernel.removeRoute("default") }
        world.flush()
        let outages = try world.items("/v1/outages?limit=1000")
        #expect(outages.count == 100)
        #expect(outages.allSatisfy { ($0["actor"] as? [String: Any])?["pid"] as? Int == 812 })
        #expect(asked.withLock(\.count) == 1)
    }
}
