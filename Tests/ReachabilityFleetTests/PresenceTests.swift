import Testing

@testable import ReachabilityFleet

/// The presence of a machine. Each rule is based on the behaviour of a real broker.
@Suite struct PresenceTests {
    private func present(_ session: String = "a") -> DevicePresence {
        var presence = DevicePresence()
        #expect(presence.take(online(session), isRetained: false, at: at(0)) == .arrived)
        return presence
    }

    @Test func `a birth message makes a machine online and reports keep it online`() {
        var presence = present()
        #expect(presence.take(online("a", 300), isRetained: false, at: at(300)) == .none)
        #expect(presence.standing == .online)
        #expect(presence.deadline == at(300 + 900))
    }

    @Test func `a will of the newest session counts`() {
        var presence = present()
        #expect(presence.take(.will(session: "a"), isRetained: false, at: at(90)) == .becameSilent(since: at(0)))
        #expect(presence.standing == .silent)
        // A broker may publish the will twice.
        #expect(presence.take(.will(session: "a"), isRetained: false, at: at(91)) == .none)
    }

    @Test func `a will of an older session is ignored after a takeover`() {
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

    @Test func `a machine is online after a takeover with the will between two states`() {
        var presence = present()
        #expect(presence.take(.will(session: "a"), isRetained: false, at: at(60)) == .becameSilent(since: at(0)))
        _ = presence.take(online("b", 60), isRetained: false, at: at(60))
        #expect(presence.standing == .online)
    }

    @Test func `a machine is silent after three missed reports`() {
        var presence = present()
        #expect(presence.pass(to: at(899)) == .none)
        #expect(presence.pass(to: at(900)) == .becameSilent(since: at(0)))
        #expect(presence.pass(to: at(2000)) == .none)
    }

    @Test func `a retained state makes no machine online`() {
        var presence = DevicePresence()
        #expect(presence.take(online("a"), isRetained: true, at: at(0)) == .none)
        #expect(presence.standing == .unknown)
        // The absence of the machine is detected by its timeout.
        #expect(presence.pass(to: at(900)) == .becameSilent(since: at(0)))
        #expect(presence.take(online("a", 950), isRetained: true, at: at(950)) == .none)
        #expect(presence.standing == .silent)
    }

    @Test func `machines are unknown after a restart of the broker until their next state`() {
        var presence = present()
        presence.brokerDisconnected()
        #expect(presence.standing == .unknown)
        #expect(presence.pass(to: at(5000)) == .none)
        #expect(presence.take(online("a"), isRetained: true, at: at(20)) == .none)
        #expect(presence.standing == .unknown)
        #expect(presence.take(online("a", 30), isRetained: false, at: at(30)) == .none)
        #expect(presence.standing == .online)
    }

    @Test func `the timeout of a machine starts again when the broker is back`() {
        var presence = present()
        presence.brokerDisconnected()
        #expect(presence.deadline == nil)
        presence.brokerConnected(at: at(5000))
        #expect(presence.pass(to: at(5899)) == .none)
        #expect(presence.pass(to: at(5900)) == .becameSilent(since: at(0)))
    }

    @Test func `a machine that announced its end is not silent`() {
        for standing in [DeviceState.Standing.leaving, .sleeping] {
            var presence = present()
            let word = DeviceState(session: "a", standing: standing, report: report(60))
            #expect(presence.take(word, isRetained: false, at: at(60)) == .left)
            #expect(presence.take(.will(session: "a"), isRetained: false, at: at(61)) == .none)
            #expect(presence.pass(to: at(100_000)) == .none)
            #expect(presence.standing.rawValue == standing.rawValue)
        }
    }

    @Test func `an announcement of an older session is ignored`() {
        var presence = present("b")
        let word = DeviceState(session: "a", standing: .leaving, report: report(60))
        #expect(presence.take(word, isRetained: false, at: at(60)) == .none)
        #expect(presence.standing == .online)
    }
}
