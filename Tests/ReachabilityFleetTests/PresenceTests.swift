import ReachabilityFleet
import Testing

/// Who is there. Each rule was met with a real broker.
@Suite struct PresenceTests {
    private func present(_ session: String = "a") -> DevicePresence {
        var presence = DevicePresence()
        #expect(presence.take(online(session), isRetained: false, at: at(0)) == .arrived)
        return presence
    }

    @Test func `a birth makes it online, and reports keep it so`() {
        var presence = present()
        #expect(presence.take(online("a", 300), isRetained: false, at: at(300)) == .none)
        #expect(presence.standing == .online)
        #expect(presence.deadline == at(300 + 900))
    }

    @Test func `a will of the newest session counts`() {
        var presence = present()
        #expect(presence.take(.will(session: "a"), isRetained: false, at: at(90)) == .fell(since: at(0)))
        #expect(presence.standing == .silent)
        // A broker may say it twice.
        #expect(presence.take(.will(session: "a"), isRetained: false, at: at(91)) == .none)
    }

    @Test func `after a takeover the will of the old session is nothing`() {
        var presence = present()
        let change = presence.take(online("b", 60), isRetained: false, at: at(60))
        let absence = DevicePresence.Absence(
            before: report(0),
            after: report(60),
            standing: .online,
            since: at(0),
            until: at(60)
        )
        #expect(change == .returned(absence))
        #expect(presence.take(.will(session: "a"), isRetained: false, at: at(61)) == .none)
        #expect(presence.standing == .online)
    }

    @Test func `a takeover that tells offline between two onlines ends online`() {
        var presence = present()
        #expect(presence.take(.will(session: "a"), isRetained: false, at: at(60)) == .fell(since: at(0)))
        _ = presence.take(online("b", 60), isRetained: false, at: at(60))
        #expect(presence.standing == .online)
    }

    @Test func `nothing for three reports is silence`() {
        var presence = present()
        #expect(presence.pass(to: at(899)) == .none)
        #expect(presence.pass(to: at(900)) == .fell(since: at(0)))
        #expect(presence.pass(to: at(2000)) == .none)
    }

    @Test func `what a broker kept makes nobody online`() {
        var presence = DevicePresence()
        #expect(presence.take(online("a"), isRetained: true, at: at(0)) == .none)
        #expect(presence.standing == .unknown)
        // One that is gone is found out by its silence.
        #expect(presence.pass(to: at(900)) == .fell(since: at(0)))
        #expect(presence.take(online("a", 950), isRetained: true, at: at(950)) == .none)
        #expect(presence.standing == .silent)
    }

    @Test func `after a restart of the broker all are unknown until they speak`() {
        var presence = present()
        presence.brokerWasLost()
        #expect(presence.standing == .unknown)
        #expect(presence.pass(to: at(5000)) == .none)
        #expect(presence.take(online("a"), isRetained: true, at: at(20)) == .none)
        #expect(presence.standing == .unknown)
        #expect(presence.take(online("a", 30), isRetained: false, at: at(30)) == .none)
        #expect(presence.standing == .online)
    }

    @Test func `who is not back after the broker has its time from then`() {
        var presence = present()
        presence.brokerWasLost()
        #expect(presence.deadline == nil)
        presence.brokerIsBack(at: at(5000))
        #expect(presence.pass(to: at(5899)) == .none)
        #expect(presence.pass(to: at(5900)) == .fell(since: at(0)))
    }

    @Test func `who says that it goes is not silent`() {
        for standing in [DeviceState.Standing.leaving, .sleeping] {
            var presence = present()
            let word = DeviceState(session: "a", standing: standing, report: report(60))
            #expect(presence.take(word, isRetained: false, at: at(60)) == .left)
            #expect(presence.take(.will(session: "a"), isRetained: false, at: at(61)) == .none)
            #expect(presence.pass(to: at(100_000)) == .none)
            #expect(presence.standing.rawValue == standing.rawValue)
        }
    }

    @Test func `a goodbye of an old session is nothing`() {
        var presence = present("b")
        let word = DeviceState(session: "a", standing: .leaving, report: report(60))
        #expect(presence.take(word, isRetained: false, at: at(60)) == .none)
        #expect(presence.standing == .online)
    }
}
