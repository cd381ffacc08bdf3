import ReachabilityLedger
import Testing

@testable import ReachabilityService

/// The grouping of outages into incidents, and the notifications that are due.
@Suite struct IncidentTrackerTests {
    /// A tracker with some targets and one notifier.
    private struct Play {
        var tracker = IncidentTracker()
        var notifier: NotifierSettings
        var now = LedgerInstant(nanoseconds: 0)
        /// The output interface of each target.
        var interfaces: [String: String] = [:]
        private var ledgers: [String: TargetLedger] = [:]
        private var number: UInt64 = 0

        init(
            _ notifier: NotifierSettings = NotifierSettings(name: "chat", channel: .journal),
            names: [String] = ["a", "b", "c"],
            hosts: [String: String] = [:],
            bound: [String: String] = [:]
        ) {
            self.notifier = notifier
            let targets = names.map { ServiceTarget(name: $0, host: hosts[$0] ?? $0, interface: bound[$0]) }
            tracker.apply(targets, [notifier], at: now)
            for target in targets { set(target.name, TargetState(.up)) }
        }

        /// Sets the state of a target from now on.
        mutating func set(_ target: String, _ state: TargetState, uncertainty: Duration = .zero) {
            var events: [TargetLedger.Event]
            if var ledger = ledgers[target] {
                events = ledger.take(state, reason: nil, at: now, uncertainty: uncertainty)
                ledgers[target] = ledger
            } else {
                let ledger = TargetLedger(of: target, from: now, state)
                ledgers[target] = ledger
                events = [.opened(ledger.current)] + (ledger.outage.map { [.outageBegan($0)] } ?? [])
            }
            for event in events {
                number += 1
                let interface = interfaces[target]
                let kind = ServiceEvent.Kind.ledger(event)
                _ = tracker.take(
                    .event(.init(number: number, instant: now, target: target, kind: kind, interface: interface))
                )
            }
        }

        mutating func set(_ targets: [String], _ state: TargetState) { for target in targets { set(target, state) } }

        mutating func wait(_ time: Duration) { now = now + time }

        /// Returns the notifications that are due after a time as texts, and marks them as delivered.
        mutating func due(after time: Duration = .zero) -> [String] {
            wait(time)
            var words: [String] = []
            while true {
                let next = tracker.incidents.lazy.compactMap { [notifier, now] incident in
                    incident.next(for: "chat", of: notifier, at: now)
                }
                guard let notification = next.first else { break }
                let incident = notification.incident
                let ending = incident.ending.map { " \($0.rawValue)" } ?? ""
                words.append(
                    "\(notification.event.rawValue) \(incident.members.map(\.target).joined(separator: "+")) \(incident.state)"
                        + ending + (notification.isDelayed ? " late" : "")
                )
                tracker.didDeliver(notification, by: "chat")
            }
            tracker.settle(["chat": notifier])
            return words
        }

        /// Restarts the service with the saved incidents. The states of the targets are not known yet.
        mutating func restart(targets: [String] = ["a", "b", "c"]) {
            let kept = tracker.incidents
            tracker = IncidentTracker()
            tracker.restore(kept)
            tracker.apply(targets.map { ServiceTarget(name: $0, host: $0) }, [notifier], at: now)
            ledgers = [:]
        }
    }

    private static let link = TargetState(.us, .link)
    private static let gateway = TargetState(.upstream, .gateway)
    private static let up = TargetState(.up)
    private static let degraded = TargetState(.up, .degraded)

    @Test func `a degraded target is reported only if the notifier includes degraded`() {
        var play = Play()
        play.set("a", Self.degraded)
        #expect(play.due(after: .seconds(60)).isEmpty && play.tracker.incidents.isEmpty)
        play = Play(NotifierSettings(name: "chat", channel: .journal, only: [.us, .up]))
        play.set(["a", "b"], Self.degraded)
        #expect(play.due(after: .seconds(31)) == ["began a+b up.degraded"])
        play.restart()
        play.set("a", Self.degraded)
        play.set("b", Self.up)
        #expect(play.due(after: .seconds(1)).isEmpty)
        // An outage of a degraded target is a separate incident.
        play.set("a", Self.link)
        #expect(play.due() == ["ended a+b up.degraded unknown"])
        #expect(play.due(after: .seconds(31)) == ["began a us.link"])
        play.set("a", Self.degraded)
        #expect(play.due() == ["ended a us.link up"])
        play.set("a", Self.up)
        #expect(play.due().isEmpty)
        // An outage of an earlier run is over if the target is only degraded.
        play.set("b", Self.link)
        #expect(play.due(after: .seconds(31)) == ["began b us.link"])
        play.restart()
        play.set("b", Self.degraded)
        #expect(play.due() == ["ended b us.link unknown"])
        #expect(play.due(after: .seconds(31)) == ["began b up.degraded"])
    }

    @Test func `an outage that turns into unknown ends, and unknown is a new incident`() {
        var play = Play(NotifierSettings(name: "chat", channel: .journal, only: [.us, .unknown]))
        play.set("a", Self.link)
        #expect(play.due(after: .seconds(31)) == ["began a us.link"])
        play.set("a", TargetState(.unknown, .suspended))
        #expect(play.due() == ["ended a us.link unknown"])
        #expect(play.due(after: .seconds(31)) == ["began a unknown.suspended"])
        play.set("a", Self.up)
        #expect(play.due() == ["ended a unknown.suspended"])
    }

    @Test func `an outage is reported after its minimum duration and at its end`() {
        var play = Play()
        play.set("a", Self.link)
        #expect(play.due(after: .seconds(29)) == [])
        #expect(
            play.tracker.incidents[0].nextDue(for: "chat", of: play.notifier, after: play.now)
                == LedgerInstant(nanoseconds: 30_000_000_000)
        )
        #expect(play.due(after: .seconds(1)) == ["began a us.link"])
        play.wait(.seconds(10))
        play.set("a", Self.up)
        #expect(play.due() == ["ended a us.link up"])
        #expect(play.tracker.incidents.isEmpty)
    }

    @Test func `an outage that begins again at the same instant is reported once`() {
        var play = Play(NotifierSettings(name: "chat", channel: .journal, after: .zero))
        func deliver() -> [Notification.Event] {
            var events: [Notification.Event] = []
            while events.count < 5 {
                let (notifier, now) = (play.notifier, play.now)
                let next = play.tracker.incidents.lazy.compactMap { $0.next(for: "chat", of: notifier, at: now) }
                guard let notification = next.first else { break }
                events.append(notification.event)
                play.tracker.didDeliver(notification, by: "chat")
            }
            return events
        }
        play.set("a", Self.link)
        #expect(deliver() == [.began])
        play.set("a", Self.up)
        #expect(deliver() == [.ended])
        play.set("a", Self.link)
        #expect(deliver() == [.began])
        play.set("a", Self.up)
        #expect(deliver() == [.ended])
    }

    @Test func `a shorter outage is not reported`() {
        var play = Play()
        play.set("a", Self.link)
        play.wait(.milliseconds(29_999))
        play.set("a", Self.up)
        #expect(play.due(after: .seconds(60)) == [])
        #expect(play.tracker.incidents.isEmpty)
    }

    @Test func `the minimum duration of a target replaces that of the notifier`() {
        var notifier = NotifierSettings(name: "chat", channel: .journal)
        notifier.settle = ["a": .seconds(300), "b": .seconds(5)]
        var play = Play(notifier)
        play.set("a", TargetState(.them, .host))
        #expect(play.due(after: .seconds(60)) == [])
        play.set(["b", "c"], TargetState(.us, .link))
        #expect(play.due(after: .seconds(5)) == ["began b+c us.link"])
        #expect(play.due(after: .seconds(235)) == ["began a them.host"])
    }

    @Test func `targets that fail together are one incident, which ends with the last of them`() {
        var play = Play()
        play.set(["a", "b"], Self.link)
        play.wait(.seconds(20))
        play.set("c", Self.link)
        #expect(play.due(after: .seconds(10)) == ["began a+b+c us.link"])
        play.set("a", Self.up)
        #expect(play.due() == [])
        play.set(["b", "c"], Self.up)
        #expect(play.due() == ["ended a+b+c us.link up"])
    }

    @Test func `a later failure or one with a different host is a separate incident`() {
        var play = Play(hosts: ["b": "same", "c": "same"])
        play.set("a", Self.link)
        play.wait(.seconds(31))
        play.set("b", Self.link)
        #expect(play.due(after: .seconds(31)) == ["began a us.link late", "began b us.link"])
        play.set(["a", "b"], Self.up)
        _ = play.due()
        play.set(["a", "b", "c"], TargetState(.them, .refused))
        #expect(play.due(after: .seconds(30)) == ["began a them.refused", "began b+c them.refused"])
    }

    @Test func `a target that is bound to the same interface joins the incident`() {
        var play = Play(bound: ["b": "eth0", "c": "wlan0"])
        play.interfaces = ["a": "eth0", "b": "eth0", "c": "wlan0"]
        play.set(["a", "b", "c"], Self.link)
        #expect(play.due(after: .seconds(30)) == ["began a+b us.link", "began c us.link"])
        play.set(["a", "b", "c"], Self.up)
        #expect(play.due() == ["ended a+b us.link up", "ended c us.link up"])
    }

    @Test func `a target without a known interface joins the incident`() {
        var play = Play(bound: ["b": "eth0"])
        play.set(["a", "b"], Self.link)
        #expect(play.due(after: .seconds(30)) == ["began a+b us.link"])
    }

    @Test(arguments: [
        [TargetState(.us, .route), TargetState(.us, .address), TargetState(.us, .dns)],
        [TargetState(.us, .dns), TargetState(.us, .link), TargetState(.us, .route)],
        [TargetState(.upstream, .gateway), TargetState(.upstream, .provider), TargetState(.upstream, .dns)],
        [TargetState(.upstream, .dns), TargetState(.upstream, .portal), TargetState(.upstream, .interception)],
    ])
    func `one fault is one incident, even with different causes for the targets`(states: [TargetState]) {
        var play = Play()
        for (target, state) in zip(["a", "b", "c"], states) {
            play.set(target, state)
            play.wait(.seconds(3))
        }
        let began = play.due(after: .seconds(30))
        #expect(began.count == 1 && began[0].hasPrefix("began a+b+c \(states[0])"))
        for target in ["c", "a", "b"] {
            play.wait(.seconds(2))
            play.set(target, Self.up)
        }
        #expect(play.due().map { String($0.prefix(11)) } == ["ended a+b+c"])
        #expect(play.tracker.incidents.isEmpty)
    }

    @Test func `a policy or clock fault is separate from a link fault`() {
        var play = Play()
        play.set("a", Self.link)
        play.set("b", TargetState(.us, .policy))
        play.set("c", TargetState(.us, .clock))
        #expect(play.due(after: .seconds(30)) == ["began a us.link", "began b us.policy", "began c us.clock"])
    }

    @Test func `targets whose cause changes to the same one are merged into one incident`() {
        var play = Play(hosts: ["a": "same", "b": "same"])
        play.set(["a", "b", "c"], TargetState(.them, .host))
        for target in ["b", "c", "a"] {
            play.wait(.seconds(2))
            play.set(target, Self.gateway)
        }
        let began = play.due(after: .seconds(30))
        #expect(began.count == 1 && began[0].hasSuffix("upstream.gateway"))
    }

    @Test func `targets that are checked one after the other are one incident within their uncertainty`() {
        var play = Play()
        play.set("a", Self.gateway)
        play.wait(.seconds(45))
        // The last good check was before the first target failed.
        play.set("b", TargetState(.upstream, .dns), uncertainty: .seconds(50))
        play.wait(.seconds(45))
        play.set("c", Self.gateway, uncertainty: .seconds(50))
        #expect(play.due().map { String($0.prefix(9)) } == ["began a+b"])
        #expect(play.due(after: .seconds(30)) == ["began c upstream.gateway"])
    }

    @Test func `a target that fails again during an incident is not reported again`() {
        var play = Play()
        play.set(["a", "b"], Self.link)
        play.wait(.seconds(5))
        play.set("a", Self.up)
        play.wait(.seconds(5))
        play.set("a", Self.link)
        #expect(play.due(after: .seconds(30)) == ["began a+b us.link"])
        play.set(["a", "b"], Self.up)
        #expect(play.due() == ["ended a+b us.link up"])
    }

    @Test func `an incident is undecided after a restart and while a check is pending`() {
        var play = Play()
        play.set("a", Self.link)
        play.wait(.seconds(60))
        #expect(!play.tracker.isUndecided(play.tracker.incidents[0], ["b"]))
        #expect(play.tracker.isUndecided(play.tracker.incidents[0], ["a", "b"]))
        play.restart()
        #expect(play.tracker.isUndecided(play.tracker.incidents[0], []))
        play.set("a", Self.link)
        #expect(!play.tracker.isUndecided(play.tracker.incidents[0], []))
    }

    @Test func `incidents with the same cause are merged before they are reported`() {
        var play = Play()
        play.set(["a", "b"], TargetState(.them, .host))
        play.wait(.seconds(5))
        play.set(["a", "b"], Self.gateway)
        #expect(play.due(after: .seconds(25)) == ["began a+b upstream.gateway"])
    }

    @Test func `a changed attribution is reported after its minimum duration, a changed cause is not`() {
        var play = Play()
        play.set("a", Self.link)
        #expect(play.due(after: .seconds(30)) == ["began a us.link"])
        play.set("a", TargetState(.us, .route))
        #expect(play.due(after: .seconds(100)) == [])
        play.set("a", Self.gateway)
        #expect(play.due(after: .seconds(10)) == [])
        #expect(play.due(after: .seconds(20)) == ["refined a upstream.gateway"])
        play.set("a", Self.up)
        // The end is reported with the state that lasted longest.
        #expect(play.due() == ["ended a us.route up"])
    }

    @Test func `an ongoing incident is reported once a day`() {
        var play = Play()
        play.set("a", Self.link)
        _ = play.due(after: .seconds(30))
        #expect(play.due(after: .seconds(86_400 - 31)) == [])
        #expect(play.due(after: .seconds(1)) == ["digest a us.link"])
        #expect(play.due() == [])
        // Three days without a delivery are reported once.
        #expect(play.due(after: .seconds(3 * 86_400)) == ["digest a us.link"])
        play.set("a", Self.up)
        #expect(play.due() == ["ended a us.link up"])
    }

    @Test func `an outage that ended before its delivery is reported once as late`() {
        var play = Play()
        play.set("a", Self.link)
        play.wait(.seconds(600))
        play.set("a", Self.up)
        #expect(play.due(after: .seconds(2)) == ["ended a us.link up late"])
    }

    @Test func `a restricted notifier receives the end of each incident it reported, and nothing else`() {
        var play = Play(NotifierSettings(name: "x", channel: .journal, after: .zero, only: [.us], targets: ["b"]))
        play.set(["a", "b"], Self.link)
        #expect(play.due() == ["began b us.link"])
        play.set("b", Self.gateway)
        #expect(play.due() == ["refined b upstream.gateway"])
        play.wait(.seconds(1))
        play.set(["a", "b"], Self.up)
        #expect(play.due() == ["ended b upstream.gateway up"])
        play.set("b", Self.gateway)
        play.wait(.seconds(1))
        play.set("b", Self.up)
        #expect(play.due() == [])
        #expect(play.tracker.incidents.isEmpty)
    }

    @Test func `an unobserved end is reported as unknown`() {
        var play = Play()
        play.set("a", Self.link)
        _ = play.due(after: .seconds(30))
        play.set("a", TargetState(.unknown, .notObserved))
        #expect(play.due() == ["ended a us.link unknown"])
        // Unknown time is reported if the notifier includes it.
        play.notifier = NotifierSettings(name: "x", channel: .journal, after: .zero, only: [.unknown])
        play.tracker.apply([ServiceTarget(name: "b", host: "b")], [play.notifier], at: play.now)
        play.set("b", TargetState(.unknown, .denied))
        #expect(play.due(after: .seconds(1)) == ["began b unknown.denied"])
        play.set("b", Self.up)
        #expect(play.due() == ["ended b unknown.denied"])
    }

    @Test func `an outage continues across a restart and has a single end`() {
        var play = Play()
        play.set(["a", "b", "c"], Self.link)
        #expect(play.due(after: .seconds(30)) == ["began a+b+c us.link"])
        play.wait(.seconds(5))
        // c is no longer a target, and b recovered while the service was not running.
        play.restart(targets: ["a", "b"])
        play.set("a", Self.link)
        play.set("b", Self.up)
        #expect(play.due(after: .seconds(100)) == [])
        play.set("a", Self.up)
        #expect(play.due() == ["ended a+b+c us.link unknown"])
        #expect(play.tracker.incidents.isEmpty)
    }

    @Test func `an outage that was not reported before a restart is reported after it`() {
        var play = Play()
        play.set("a", Self.link)
        play.wait(.seconds(29))
        play.restart()
        play.set("a", TargetState(.unknown, .undecided))
        play.set("a", Self.link)
        #expect(play.due(after: .seconds(1)) == ["began a us.link"])
        play.set("a", Self.up)
        #expect(play.due() == ["ended a us.link up"])
    }

    @Test(.timeLimit(.minutes(15))) func `a thousand targets that fail together are one notification`() {
        let names = (0..<1000).map { "t\($0)" }
        var play = Play(names: names)
        play.set(names, Self.link)
        #expect(play.due(after: .seconds(30)).count == 1)
        play.set(names, Self.up)
        #expect(play.due().count == 1)
        #expect(play.tracker.incidents.isEmpty)
    }

    @Test func `a recipient of a started delivery receives the end, even if the settings have changed`() {
        var play = Play()
        play.set("a", Self.link)
        play.wait(.seconds(30))
        guard let notification = play.tracker.incidents[0].next(for: "chat", of: play.notifier, at: play.now) else {
            Issue.record("no notification is due")
            return
        }
        play.tracker.willDeliver(notification, by: "chat")
        play.notifier = NotifierSettings(name: "chat", channel: .journal, after: .seconds(600), only: [.them])
        play.set("a", Self.up)
        play.tracker.settle(["chat": play.notifier])
        #expect(play.due() == ["ended a us.link up late"])
    }

    @Test func `notification ids are stable and unique`() {
        var play = Play()
        play.set("a", Self.link)
        play.wait(.seconds(30))
        let first = play.tracker.incidents[0].next(for: "chat", of: play.notifier, at: play.now)
        play.wait(.seconds(7))
        let again = play.tracker.incidents[0].next(for: "chat", of: play.notifier, at: play.now)
        #expect(first?.id == again?.id)
        #expect(first?.id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } == true)
        _ = play.due()
        play.set("a", Self.up)
        #expect(play.tracker.incidents[0].next(for: "chat", of: play.notifier, at: play.now)?.id != first?.id)
    }
}
