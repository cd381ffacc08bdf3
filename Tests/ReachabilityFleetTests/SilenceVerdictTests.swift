import ReachabilityFleet
import ReachabilityLedger
import Testing

/// The verdicts of absences. The wall clock of the machine is ten years behind.
@Suite struct SilenceVerdictTests {
    /// The machine was silent from 100 to 500 by CLOCK_BOOTTIME, has sent all events, and has not rebooted.
    private func evidence(_ change: (inout SilenceEvidence) -> Void = { _ in }) -> SilenceEvidence {
        var evidence = SilenceEvidence()
        (evidence.before, evidence.after, evidence.hasAllEvents) = (report(100), report(500), true)
        change(&evidence)
        return evidence
    }

    @Test func `an announced end is planned`() {
        let evidence = evidence { ($0.planned, $0.reason) = (true, "update") }
        #expect(evidence.verdict == .planned(reason: "update"))
        #expect(evidence.verdict.attribution == nil)
    }

    @Test func `the longest outage of the machine is the verdict`() {
        let long = outage("long", .us, .link, from: 150, to: 450)
        let evidence = evidence { $0.outages = [outage("short", .us, .route, from: 110, to: 120), long] }
        #expect(evidence.verdict == .outage(long))
        #expect(evidence.verdict.attribution == .us)
        #expect(evidence.verdict.cause == .link)
    }

    @Test func `an outage without an end and an outage of the provider are verdicts`() {
        #expect(evidence { $0.outages = [outage(from: 450, to: nil)] }.verdict.word == "outage")
        let provider = outage("p", .upstream, .provider, from: 150, to: 450)
        #expect(evidence { $0.outages = [provider] }.verdict == .outage(provider))
    }

    @Test func `outages outside the absence and outages of targets are not verdicts`() {
        let others = [
            outage("before", from: 10, to: 99), outage("after", from: 501, to: 600),
            outage("theirs", .them, .http, from: 150, to: 450),
        ]
        #expect(evidence { $0.outages = others }.verdict == .beyond)
    }

    @Test func `another boot id is a power failure`() {
        #expect(evidence { $0.after = report(5, boot: "two") }.verdict == .power)
        #expect(SilenceVerdict.power.cause?.rawValue == "power")
    }

    @Test func `sleep for most of the time is sleep`() {
        #expect(evidence { $0.slept = .seconds(200) }.verdict == .sleep)
        // The last message is older than the beginning of the sleep.
        #expect(evidence { $0.slept = .seconds(40) }.verdict == .sleep)
        #expect(evidence { $0.slept = .seconds(39) }.verdict == .beyond)
    }

    @Test func `an absence after an announced sleep has the verdict sleep`() {
        let asleep = evidence { ($0.announcedSleep, $0.after) = (true, nil) }
        #expect(asleep.verdict == .sleep)
        #expect(evidence { $0.announcedSleep = true }.verdict == .sleep)
        #expect(evidence { ($0.announcedSleep, $0.after) = (true, report(5, boot: "two")) }.verdict == .power)
    }

    @Test func `an absence is unexplained if two machines use the name`() {
        #expect(evidence { ($0.isDisputed, $0.after) = (true, report(5, boot: "two")) }.verdict == .unexplained)
    }

    @Test func `an absence during an outage of the hub or the broker is unobserved`() {
        #expect(evidence { $0.unobserved = true }.verdict == .unobserved)
        #expect(SilenceVerdict.unobserved.attribution == nil)
        let own = outage(from: 150, to: 450)
        #expect(evidence { ($0.unobserved, $0.outages) = (true, [own]) }.verdict == .outage(own))
    }

    @Test func `several silent machines are a site fault`() { #expect(evidence { $0.neighbours = 1 }.verdict == .site) }

    @Test func `a silence of one machine without a fault is beyond it`() { #expect(evidence().verdict == .beyond) }

    @Test func `an absence without all events is unexplained`() {
        #expect(evidence { $0.after = nil }.verdict == .unexplained)
        #expect(evidence { $0.hasAllEvents = false }.verdict == .unexplained)
        #expect(SilenceVerdict.unexplained.attribution == .unknown)
    }
}
