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

/// The summary of a machine, read from responses of its service.
@Suite struct DeviceSummaryTests {
    private static func summary(
        _ attribution: String,
        check: String = "null",
        seconds: String = #"{"up":1,"us":1.5,"upstream":60,"them":0.25,"unknown":9}"#
    ) throws -> DeviceSummary {
        try DeviceSummary(
            target: Array(#"{"schema":1,"attribution":"\#(attribution)","check":\#(check)}"#.utf8),
            availability: Array(#"{"schema":1,"items":[{"seconds":\#(seconds)}],"next":null}"#.utf8)
        )
    }

    @Test(
        arguments: [
            ("up", true, DeviceSummary.Party.noParty), ("us", false, .machine), ("upstream", false, .provider),
            ("them", false, .target), ("unknown", nil, nil),
        ] as [(String, Bool?, DeviceSummary.Party?)]
    )
    func `the attribution decides whether the internet is up and names the party`(
        attribution: String,
        isUp: Bool?,
        party: DeviceSummary.Party?
    ) throws {
        let summary = try Self.summary(attribution, check: #"{"latencyMicroseconds":8200}"#)
        #expect(summary.isUp == isUp && summary.party == party)
        // Time that was not observed is not lost.
        #expect(summary.lostToday == .milliseconds(61_750) && summary.latency == .microseconds(8200))
        #expect(try Self.summary(attribution).latency == nil)
    }

    @Test func `without results of the service the kernel's path counts`() {
        for (path, isUp) in [("reachable", true), ("notReachable", false), ("unknown", nil), (nil, nil)] {
            let summary = DeviceSummary(path: path)
            #expect(summary.isUp == isUp && summary.party == nil && summary.lostToday == nil)
        }
    }

    @Test(arguments: ["-1", "1e300", "\"1\"", "1e999"])
    func `a duration out of range is refused`(number: String) {
        #expect(throws: PayloadError.self) { try Self.summary("up", seconds: #"{"us":\#(number)}"#) }
    }
}
