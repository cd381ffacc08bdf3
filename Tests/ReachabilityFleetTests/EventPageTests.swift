import ReachabilityFleet
import Testing

/// The event log of the service, as an agent reads it.
struct EventPageTests {
    @Test func `outages and sleeps are published, and other events are skipped`() throws {
        let outage =
            #"{"schema":1,"id":"1-a","target":"t","attribution":"us","cause":"us.link","start":"2026-11-21T08:15:30.000Z","end":null}"#
        let text = """
            {"items":[
            {"schema":1,"id":"e.1","event":"intervalOpened","time":"2026-11-21T08:15:30.123Z","interval":{}},
            {"schema":1,"id":"e.2","event":"outageBegan","time":"2026-11-21T08:15:30.123Z","outage":\(outage)},
            {"schema":1,"id":"e.3","event":"outageEnded","time":"2026-11-21T08:15:31.000Z","outage":{"id":"damaged"}},
            {"schema":1,"id":"e.4","event":"resumed","time":"2026-11-21T08:15:32.000Z","sleepMilliseconds":1500}],
            "next":"e.4"}
            """
        let page = try EventPage(Array(text.utf8))
        #expect(page.hasMore && page.entries.map(\.position.number) == [1, 2, 3, 4])
        guard case .outage(let told)? = page.entries[1].kind else {
            Issue.record("no outage")
            return
        }
        #expect(told.id == "1-a" && told.end == nil)
        #expect(page.entries[0].kind == nil && page.entries[2].kind == nil)
        #expect(page.entries[3].kind == .resumed(.milliseconds(1500)))
        let outages = try OutagePage(Array("{\"items\":[\(outage)],\"next\":null}".utf8))
        #expect(outages.outages == [told] && outages.next == nil)
    }

    @Test(arguments: ["", "[]", "{}", #"{"items":1}"#, #"{"items":[1]}"#, #"{"items":[{}]}"#])
    func `an invalid page is refused`(_ text: String) {
        #expect(throws: PayloadError.self) { try EventPage(Array(text.utf8)) }
    }

    @Test func `an answer can be written and read, and an answer that is too long becomes a problem`() throws {
        let body = Array(#"{"a":[1,2]}"#.utf8)
        let answer = DeviceAnswer(to: .detail, body: body)
        let bytes = answer.bytes(session: "s")
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""answer":{"a":[1,2]}"#))
        #expect(try DeviceAnswer(bytes).command == "detail")
        let long = DeviceAnswer(to: .detail, body: Array("{\"a\":\"\(String(repeating: "x", count: 20_000))\"}".utf8))
        #expect(long.body == nil && long.problem != nil)
        #expect(DeviceAnswer(to: .detail, body: Array("[]".utf8)).problem != nil)
    }
}
