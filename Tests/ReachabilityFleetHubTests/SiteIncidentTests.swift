import ReachabilityFleet
import ReachabilityLedger
import Testing

@testable import ReachabilityFleetHub
@testable import ReachabilityService

/// The notifications of fleet incidents. Each start is notified at most once, and each notified incident has a notified
/// end.
@Suite struct SiteIncidentTests {
    /// A simulation of incidents with one notifier.
    private struct Play {
        var tracker = IncidentTracker(keptPerSite: FleetIncidentTracker.kept)
        var notifier = NotifierSettings(
            name: "chat",
            channel: .journal,
            after: .seconds(30),
            only: [.us, .upstream, .them, .unknown]
        )
        var now = 0
        var instant: LedgerInstant { LedgerInstant(wall: at(now)) }

        /// Sets the current state of an incident.
        mutating func stands(
            _ id: String = "i",
            site: String = "north",
            from start: Int = 0,
            to end: Int? = nil,
            is state: TargetState = TargetState(.unknown),
            isHarmless: Bool = false
        ) {
            let summary = IncidentSummary(
                id: id,
                site: site,
                start: at(start),
                end: end.map { at($0) },
                attribution: state.attribution,
                cause: state.cause,
                isUnexplained: state.attribution == .unknown,
                isHarmless: isHarmless,
                deviceCount: 2,
                devices: ["d0", "d1"]
            )
            _ = tracker.take(.site(SiteIncident(summary), at: instant))
        }

        /// Advances the time, delivers the notifications that are due, and returns their descriptions.
        mutating func told(after seconds: Int = 0) -> [String] {
            now += seconds
            var words: [String] = []
            while let letter = next {
                words.append("\(letter.id) \(letter.incident.state)" + (letter.isDelayed ? " late" : ""))
                tracker.didDeliver(letter, by: "chat")
            }
            tracker.settle(["chat": notifier])
            return words
        }

        private var next: Notification? {
            tracker.incidents.lazy.compactMap { incident in incident.next(for: "chat", of: notifier, at: instant) }
                .first
        }

        /// The time in seconds until the next notification without an event; nil if none follows.
        var wait: Int? {
            tracker.incidents.compactMap { $0.nextDue(for: "chat", of: notifier, after: instant) }.min()
                .map { Int(($0 - instant).components.seconds) }
        }

        /// Restarts the hub with the saved state.
        mutating func restart() {
            let kept = tracker.incidents.map(\.kept)
            tracker = IncidentTracker(keptPerSite: FleetIncidentTracker.kept)
            tracker.restore(kept)
        }
    }

    @Test func `an incident is notified after the delay since it was noticed`() {
        var play = Play()
        play.stands(from: -600)
        #expect(play.told() == [] && play.wait == 30)
        #expect(play.told(after: 29) == [])
        #expect(play.told(after: 1) == ["i-began unknown"])
        #expect(play.told(after: 600) == [])
        play.stands(from: -600, to: 620, is: TargetState(.us, .route))
        #expect(play.told() == ["i-ended us.route"])
        #expect(play.told(after: 100_000) == [])
    }

    @Test func `an incident that ended before the delay or before it was noticed is not notified`() {
        var play = Play()
        play.stands()
        play.now = 20
        play.stands(to: 20)
        play.stands("old", from: -7200, to: -3600, is: TargetState(.us, .link))
        #expect(play.told(after: 100) == [])
        #expect(play.tracker.incidents.isEmpty)
    }

    @Test func `an incident that ended while no notification was possible is notified once, as late`() {
        var play = Play()
        play.stands()
        play.now = 300
        play.stands(to: 290, is: TargetState(.upstream))
        #expect(play.told() == ["i-ended upstream late"])
    }

    @Test func `a lasting change of the attribution is notified but a change of the cause is not`() {
        var play = Play()
        play.stands()
        #expect(play.told(after: 30) == ["i-began unknown"])
        play.stands(is: TargetState(.us, .route))
        #expect(play.told() == [] && play.wait == 30)
        #expect(play.told(after: 30) == ["i-refined-1 us.route"])
        play.stands(is: TargetState(.us, .link))
        #expect(play.told(after: 600) == [])
        #expect(play.told(after: 85_740) == ["i-digest-1 us.link"])
    }

    @Test func `a harmless incident is not notified and a notified one is reported as ended`() {
        var play = Play()
        play.stands("quiet")
        play.now = 10
        play.stands("quiet", isHarmless: true)
        #expect(play.told(after: 600) == [])
        play.stands("loud", from: 610)
        #expect(play.told(after: 30) == ["loud-began unknown"])
        play.stands("loud", from: 610, isHarmless: true)
        #expect(play.told() == ["loud-ended unknown"])
        play.stands("loud", from: 610, to: 700, isHarmless: true)
        #expect(play.told(after: 600) == [])
    }

    @Test func `a reopened incident is the same notification with another end`() {
        var play = Play()
        play.stands()
        #expect(play.told(after: 30) == ["i-began unknown"])
        play.stands(to: 30, is: TargetState(.us, .link))
        #expect(play.told() == ["i-ended us.link"])
        // A machine reports a short outage late.
        play.stands(is: TargetState(.us, .link))
        #expect(play.told(after: 10) == [] && play.wait == 20)
        play.stands(to: 35, is: TargetState(.us, .link))
        #expect(play.told(after: 100) == [])
        play.stands(is: TargetState(.us, .link))
        #expect(play.told(after: 30) == ["i-refined-1 us.link"])
        play.stands(to: 170, is: TargetState(.us, .link))
        #expect(play.told() == ["i-ended-2 us.link"])
        #expect(play.told(after: 100) == [])
    }

    @Test func `a restarted hub sends pending notifications and repeats none`() {
        var play = Play()
        play.stands()
        #expect(play.told(after: 20) == [])
        play.restart()
        play.stands()
        #expect(play.told(after: 10) == ["i-began unknown"])
        play.restart()
        play.stands()
        #expect(play.told(after: 100) == [])
        play.restart()
        play.stands(to: 120, is: TargetState(.us, .link))
        #expect(play.told() == ["i-ended us.link"])
        play.restart()
        play.stands(to: 120, is: TargetState(.us, .link))
        #expect(play.told(after: 100) == [])
    }

    @Test func `an incident of deleted machines ends for notified recipients`() {
        var play = Play()
        play.stands("told")
        #expect(play.told(after: 30) == ["told-began unknown"])
        play.stands("new", from: 30)
        for id in ["told", "new", "none"] { _ = play.tracker.take(.forgotten(id, at: LedgerInstant(wall: at(40)))) }
        #expect(play.told(after: 600) == ["told-ended unknown late"])
    }

    @Test func `a notifier can be limited to sites and attributions`() {
        var play = Play()
        play.notifier = NotifierSettings(name: "chat", channel: .journal, after: .zero, only: [.us], targets: ["south"])
        play.stands("a")
        play.stands("b", site: "south")
        play.stands("c", is: TargetState(.us, .link))
        #expect(play.told() == [])
        play.stands("b", site: "south", is: TargetState(.us, .link))
        #expect(play.told() == ["b-began us.link"])
    }

    @Test func `the latest incidents of each site are remembered, because the hub may reopen them`() {
        var play = Play()
        play.notifier = NotifierSettings(name: "chat", channel: .journal, after: .zero, only: [.unknown])
        for number in 0..<40 {
            play.stands("i\(number)", from: number)
            #expect(play.told() == ["i\(number)-began unknown"])
            play.stands("i\(number)", from: number, to: number)
            #expect(play.told(after: 1) == ["i\(number)-ended unknown"])
        }
        #expect(play.tracker.incidents.map(\.id) == (24..<40).map { "i\($0)" })
    }
}
