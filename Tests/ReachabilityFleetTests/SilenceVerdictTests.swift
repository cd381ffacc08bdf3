import ReachabilityFleet
import ReachabilityLedger
import Testing

/// The table of silences, row by row. The wall clock of the machine is ten years behind.
@Suite struct SilenceVerdictTests {
    /// Silent from 100 to 500 by CLOCK_BOOTTIME, all told, same boot.
    private func evidence(_ change: (inout SilenceEvidence) -> Void = { _ in }) -> SilenceEvidence {
        var evidence = SilenceEvidence()
        (evidence.before, evidence.after, evidence.isToldWhole) = (report(100), report(500), true)
        change(&evidence)
        return evidence
    }

    @Test func `row 1: it said that it would go`() {
        let evidence = evidence { ($0.planned, $0.reason) = (true, "update") }
        #expect(evidence.verdict == .planned(reason: "update"))
        #expect(evidence.verdict.attribution == nil)
    }

    @Test func `row 2: an outage of its own, the longest`() {
        let long = outage("long", .us, .link, from: 150, to: 450)
        let evidence = evidence { $0.outages = [outage("short", .us, .route, from: 110, to: 120), long] }
        #expect(evidence.verdict == .outage(long))
        #expect(evidence.verdict.attribution == .us)
        #expect(evidence.verdict.cause == .link)
    }

    @Test func `row 2: an outage that lasts, and one of the provider`() {
        #expect(evidence { $0.outages = [outage(from: 450, to: nil)] }.verdict.word == "outage")
        let provider = outage("p", .upstream, .provider, from: 150, to: 450)
        #expect(evidence { $0.outages = [provider] }.verdict == .outage(provider))
    }

    @Test func `row 2: not one before or after it, and none of a target`() {
        let others = [
            outage("before", from: 10, to: 99), outage("after", from: 501, to: 600),
            outage("theirs", .them, .http, from: 150, to: 450),
        ]
        #expect(evidence { $0.outages = others }.verdict == .beyond)
    }

    @Test func `row 3: another boot`() {
        #expect(evidence { $0.after = report(5, boot: "two") }.verdict == .power)
        #expect(SilenceVerdict.power.cause?.rawValue == "power")
    }

    @Test func `row 4: it slept most of the time`() {
        #expect(evidence { $0.slept = .seconds(200) }.verdict == .sleep)
        // It was last heard of some time before it fell asleep.
        #expect(evidence { $0.slept = .seconds(40) }.verdict == .sleep)
        #expect(evidence { $0.slept = .seconds(39) }.verdict == .beyond)
    }

    @Test func `row 4: it said that it would sleep`() {
        let asleep = evidence { ($0.saidSleep, $0.after) = (true, nil) }
        #expect(asleep.verdict == .sleep)
        #expect(evidence { $0.saidSleep = true }.verdict == .sleep)
        #expect(evidence { ($0.saidSleep, $0.after) = (true, report(5, boot: "two")) }.verdict == .power)
    }

    @Test func `two machines under one name explain nothing`() {
        #expect(evidence { ($0.isDisputed, $0.after) = (true, report(5, boot: "two")) }.verdict == .unexplained)
    }

    @Test func `nobody listened`() {
        #expect(evidence { $0.unobserved = true }.verdict == .unobserved)
        #expect(SilenceVerdict.unobserved.attribution == nil)
        let own = outage(from: 150, to: 450)
        #expect(evidence { ($0.unobserved, $0.outages) = (true, [own]) }.verdict == .outage(own))
    }

    @Test func `row 5: others of the site fell with it`() { #expect(evidence { $0.neighbours = 1 }.verdict == .site) }

    @Test func `row 6: beyond it`() { #expect(evidence().verdict == .beyond) }

    @Test func `row 7: nothing yet`() {
        #expect(evidence { $0.after = nil }.verdict == .unexplained)
        #expect(evidence { $0.isToldWhole = false }.verdict == .unexplained)
        #expect(SilenceVerdict.unexplained.attribution == .unknown)
    }
}
