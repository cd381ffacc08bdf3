import ReachabilityFleet
import ReachabilityLedger
import ReachabilityService
import Testing

@testable import ReachabilityFleetHub

/// What is told of the incidents of a fleet, and when: each once, and always its end.
@Suite struct SiteIncidentTests {
    /// Incidents that come and go, and one notifier.
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

        /// An incident is so now.
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

        /// What is due so much later, in words; it is told thereby.
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

        /// How much later something is due by itself; nil where nothing will be.
        var wait: Int? {
            tracker.incidents.compactMap { $0.nextDue(for: "chat", of: notifier, after: instant) }.min()
                .map { Int(($0 - instant).components.seconds) }
        }

        /// The hub starts anew on what was written down.
        mutating func restart() {
            let kept = tracker.incidents.map(\.kept)
            tracker = IncidentTracker(keptPerSite: FleetIncidentTracker.kept)
            tracker.restore(kept)
        }
    }

    @Test func `it is told once it has been known for as long as is said, however long it was unknown`() {
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

    @Test func `what is over before that is not told, nor what was over before anybody knew of it`() {
        var play = Play()
        play.stands()
        play.now = 20
        play.stands(to: 20)
        play.stands("old", from: -7200, to: -3600, is: TargetState(.us, .link))
        #expect(play.told(after: 100) == [])
        #expect(play.tracker.incidents.isEmpty)
    }

    @Test func `what ends while nobody could be told is told once, late`() {
        var play = Play()
        play.stands()
        play.now = 300
        play.stands(to: 290, is: TargetState(.upstream))
        #expect(play.told() == ["i-ended upstream late"])
    }

    @Test func `that somebody else is at fault is told when it stays so, and another cause is not`() {
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

    @Test func `what was harmless after all is not told, and is over for whoever was told`() {
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

    @Test func `what goes on after all is the same notification, and has another end`() {
        var play = Play()
        play.stands()
        #expect(play.told(after: 30) == ["i-began unknown"])
        play.stands(to: 30, is: TargetState(.us, .link))
        #expect(play.told() == ["i-ended us.link"])
        // A machine tells late of something short.
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

    @Test func `a hub that starts anew tells nothing twice, and what was to be told`() {
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

    @Test func `where the machines are forgotten, whoever was told is told so`() {
        var play = Play()
        play.stands("told")
        #expect(play.told(after: 30) == ["told-began unknown"])
        play.stands("new", from: 30)
        for id in ["told", "new", "none"] { _ = play.tracker.take(.forgotten(id, at: LedgerInstant(wall: at(40)))) }
        #expect(play.told(after: 600) == ["told-ended unknown late"])
    }

    @Test func `a notifier may want some sites alone, and faults of some`() {
        var play = Play()
        play.notifier = NotifierSettings(name: "chat", channel: .journal, after: .zero, only: [.us], targets: ["south"])
        play.stands("a")
        play.stands("b", site: "south")
        play.stands("c", is: TargetState(.us, .link))
        #expect(play.told() == [])
        play.stands("b", site: "south", is: TargetState(.us, .link))
        #expect(play.told() == ["b-began us.link"])
    }

    @Test func `of each site as many are remembered as the hub may open again`() {
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
