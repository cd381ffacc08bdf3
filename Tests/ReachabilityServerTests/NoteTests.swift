import Foundation
import NIOHTTP1
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// What people write about outages.
@Suite struct NoteTests {
    private let world: APIWorld
    private let id: String

    init() throws {
        world = try APIWorld()
        world.lose(for: .seconds(2))
        id = try #require(try world.items("/v1/outages").first?["id"] as? String)
    }

    private func write(_ body: String, to id: String? = nil) throws -> WebAnswer {
        try world.answer("/v1/outages/\(id ?? self.id)/note", .POST, way: .local(user: 0), body: body)
    }

    @Test func `a note stands in the outage, its report, its page and the events`() throws {
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

    @Test func `a client may want text`() throws {
        let headers = [("Host", "localhost"), ("Accept", "text/plain")]
        let answer = try world.answer(
            "/v1/outages/latest/note",
            .POST,
            headers,
            way: .local(user: 0),
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
    func `what is no note is refused`(body: String) throws {
        #expect(try write(body).status == .badRequest)
    }

    @Test func `its length and number are bounded`() throws {
        func body(_ count: Int) -> String { "{\"text\":\"\(String(repeating: "ä", count: count))\"}" }
        #expect(try write(body(OutageNote.textLimit)).status == .created)
        #expect(try write(body(OutageNote.textLimit + 1)).status == .badRequest)
        for _ in 1..<OutageNote.countLimit { #expect(try write(body(1)).status == .created) }
        #expect(try write(body(1)).status == .conflict)
    }

    @Test func `a note is about a known outage`() throws {
        #expect(try write(#"{"text":"x"}"#, to: "dn2wpp5q2ytg-1xb3dqs").status == .notFound)
    }
}
