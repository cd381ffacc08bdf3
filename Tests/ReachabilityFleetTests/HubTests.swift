import ReachabilityFleet
import ReachabilityLedger
import Testing

/// The hub's decisions on messages as a broker hands them over.
@Suite struct HubTests {
    private var hub = Hub()

    init() {
        hub.brokerIsBack(at: at(0))
    }

    @discardableResult
    private mutating func state(
        _ device: String,
        _ state: DeviceState,
        _ seconds: Int,
        retained: Bool = false
    ) -> [Hub.Decision] {
        hub.take(
            .init(
                topic: "reach/v1/north/\(device)/state",
                payload: state.bytes,
                isRetained: retained,
                time: at(seconds)
            )
        )
    }

    @discardableResult
    private mutating func event(
        _ device: String,
        _ session: String,
        _ kind: DeviceEvent.Kind,
        _ seconds: Int,
        number: UInt64? = nil,
        after: UInt64? = nil,
        sent: Int? = nil
    ) -> [Hub.Decision] {
        let event = DeviceEvent(
            session: session,
            position: number.map { EventPosition(epoch: "e", number: $0) },
            after: after.map { EventPosition(epoch: "e", number: $0) },
            wall: machineWall(sent ?? seconds),
            kind: kind
        )
        return hub.take(
            .init(topic: "reach/v1/north/\(device)/event", payload: event.bytes, time: at(seconds))
        )
    }

    private func verdict(_ device: String) throws -> SilenceVerdict? { hub.verdict(of: try place(device)) }
    private func standing(_ device: String) throws -> DevicePresence.Standing? {
        hub.devices[try place(device)]?.presence.standing
    }

    /// Online at 0, gone at 100 as the broker says at 190, and back at 500 in another session.
    private mutating func silence(boot: String = "one", _ meanwhile: (inout Self) -> Void = { _ in }) {
        state("pump", online("a"), 0)
        state("pump", online("a", 100), 100)
        state("pump", .will(session: "a"), 190)
        meanwhile(&self)
        state("pump", online("b", 500, boot: boot), 500)
    }

    // MARK: The table, row by row

    @Test mutating func `it said that it would go: planned, and no incident`() throws {
        state("pump", online("a"), 0)
        var own = report(100)
        own.reason = "update"
        state("pump", DeviceState(session: "a", standing: .leaving, report: own), 100)
        state("pump", .will(session: "a"), 101)
        #expect(try standing("pump") == .leaving)
        #expect(try verdict("pump") == .planned(reason: "update"))
        state("pump", online("b", 20, boot: "two"), 900)
        #expect(try verdict("pump") == .planned(reason: "update"))
        #expect(hub.book.incidents.isEmpty)
    }

    @Test mutating func `cable out: its own outage explains it, in the same incident`() throws {
        silence()
        #expect(hub.book.incidents.count == 1)
        #expect(try verdict("pump") == .unexplained)
        let own = outage(from: 110, to: 480)
        event("pump", "b", .outage(own), 510, number: 7)
        event("pump", "b", .caughtUp, 511)
        #expect(try verdict("pump") == .outage(own))
        let incident = try #require(hub.book.incidents.first)
        #expect(hub.book.incidents.count == 1)
        #expect((incident.start, incident.end) == (at(110), at(480)))
        #expect(incident.fault == (.us, .link))
    }

    @Test mutating func `another boot: power`() throws {
        silence(boot: "two")
        event("pump", "b", .caughtUp, 511)
        #expect(try verdict("pump") == .power)
        #expect(hub.book.incidents.first?.fault.cause?.rawValue == "power")
    }

    @Test mutating func `same boot, all told, alone: beyond`() throws {
        silence()
        event("pump", "b", .caughtUp, 511)
        #expect(try verdict("pump") == .beyond)
        #expect(hub.book.incidents.first?.isOpen == false)
    }

    @Test mutating func `many of the site within 30 s: one incident of the site`() throws {
        state("valve", online("v"), 0)
        silence { $0.state("valve", .will(session: "v"), 219) }
        state("valve", online("w", 520), 520)
        event("pump", "b", .caughtUp, 530)
        event("valve", "w", .caughtUp, 530)
        #expect(try verdict("pump") == .site)
        #expect(try verdict("valve") == .site)
        #expect(hub.book.incidents.count == 1)
        #expect(hub.book.incidents.first?.devices == ["pump", "valve"])
    }

    @Test mutating func `it slept: no outage`() throws {
        silence()
        event("pump", "b", .resumed(.seconds(380)), 510, number: 1)
        event("pump", "b", .caughtUp, 511)
        #expect(try verdict("pump") == .sleep)
        #expect(hub.book.incidents.first?.isHarmless == true)
    }

    @Test mutating func `a nap does not explain an hour`() throws {
        state("pump", online("a"), 0)
        state("pump", .will(session: "a"), 90)
        state("pump", online("b", 3600), 3600)
        event("pump", "b", .resumed(.seconds(20)), 3601, number: 1)
        event("pump", "b", .caughtUp, 3602)
        #expect(try verdict("pump") == .beyond)
    }

    @Test mutating func `it said that it would sleep`() throws {
        state("pump", online("a"), 0)
        state("pump", DeviceState(session: "a", standing: .sleeping, report: report(100)), 100)
        #expect(try standing("pump") == .sleeping)
        state("pump", online("b", 5000), 5000)
        #expect(try verdict("pump") == .sleep)
        #expect(hub.book.incidents.isEmpty)
    }

    @Test mutating func `nothing yet: unexplained, and it says so for as long`() throws {
        silence()
        #expect(try verdict("pump") == .unexplained)
        #expect(hub.book.incidents.first?.isOpen == true)
        // Who never tells is waited for no longer, and still says nothing.
        state("pump", online("b", 800), 800)
        #expect(hub.deadline == at(500 + 15 * 60))
        _ = hub.pass(to: at(500 + 15 * 60))
        #expect(try verdict("pump") == .unexplained)
        #expect(hub.book.incidents.first?.isUnexplained == true)
        #expect(hub.book.incidents.first?.isOpen == false)
    }

    // MARK: Presence

    @Test mutating func `an absence that nobody noticed is explained too, and opens nothing`() throws {
        state("pump", online("a"), 0)
        state("pump", online("b", 20, boot: "two"), 60)
        event("pump", "b", .caughtUp, 61)
        #expect(try verdict("pump") == .power)
        #expect(hub.book.incidents.isEmpty)
    }

    @Test mutating func `its own outage makes an incident without any silence`() throws {
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o", .upstream, .dns, from: 10, to: nil)), 12, number: 1)
        #expect(hub.book.incidents.first?.isOpen == true)
        #expect(try #require(hub.book.incidents.first).fault == (.upstream, .dns))
        event("pump", "a", .outage(outage("o", .upstream, .dns, from: 10, to: 60)), 61, number: 2)
        #expect(hub.book.incidents.map(\.end) == [at(60)])
        #expect(hub.devices[try place("pump")]?.gap == nil)
    }

    @Test mutating func `a goodbye that comes after the will explains the silence`() throws {
        state("pump", online("a"), 0)
        state("pump", .will(session: "a"), 60)
        #expect(hub.book.open(at: "north") != nil)
        state("pump", DeviceState(session: "a", standing: .leaving, report: report(50)), 61)
        #expect(try verdict("pump") == .planned(reason: nil))
        #expect(hub.book.open(at: "north") == nil)
    }

    @Test mutating func `a broker that comes back pages nobody, and those who are gone are found out`() throws {
        for number in 0..<100 { state("d\(number)", online("s\(number)"), 0) }
        #expect(hub.brokerWasLost().count == 100)
        #expect(try standing("d7") == .unknown)
        #expect(hub.deadline == nil)
        hub.brokerIsBack(at: at(86_400))
        for number in 0..<100 { state("d\(number)", online("s\(number)"), 86_400, retained: true) }
        #expect(hub.pass(to: at(86_401)).isEmpty)
        #expect(try standing("d7") == .unknown)
        for number in 1..<100 { state("d\(number)", online("t\(number)", 86_410), 86_410) }
        #expect(try standing("d7") == .online)
        #expect(try verdict("d7") == .unobserved)
        _ = hub.pass(to: at(86_400 + 900))
        #expect(try standing("d0") == .silent)
        #expect(hub.book.incidents.map(\.devices) == [["d0"]])
    }

    @Test mutating func `what was caught up before its birth came counts`() throws {
        state("pump", online("a"), 0)
        state("pump", .will(session: "a"), 90)
        event("pump", "b", .resumed(.seconds(400)), 499, number: 1)
        event("pump", "b", .caughtUp, 499)
        state("pump", online("b", 500), 500)
        #expect(try verdict("pump") == .sleep)
        #expect(hub.book.open(at: "north") == nil)
    }

    @Test mutating func `a caught up of an earlier session is not one of this`() throws {
        silence()
        event("pump", "a", .caughtUp, 505)
        #expect(try verdict("pump") == .unexplained)
    }

    // MARK: Doubles, strangers and clocks

    @Test mutating func `what comes again is dropped by its place in the log`() throws {
        state("pump", online("a"), 0)
        let own = DeviceEvent.Kind.outage(outage(from: 10, to: 20))
        #expect(!event("pump", "a", own, 30, number: 7).isEmpty)
        for number: UInt64 in [7, 6, 1] { #expect(event("pump", "a", own, 31, number: number).isEmpty) }
        #expect(!event("pump", "a", .outage(outage("o2", from: 100, to: 120)), 130, number: 8).isEmpty)
        #expect(hub.book.incidents.count == 2)
    }

    @Test mutating func `a machine that is behind is passed over until it tells again, not as before`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerIsBack(at: at(0))
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", from: 1, to: 2)), 3, number: 1)
        hub.brokerIsBack(at: at(10))
        let pump = try place("pump")
        let first = try #require(hub.replay(for: pump))
        event("pump", "a", .replaying(mark: try #require(first.mark)), 11)
        #expect(hub.replay(for: pump) == nil)
        // The broker is killed once more, and loses the second event. It repeats what it had on the disk.
        hub.brokerIsBack(at: at(20))
        event("pump", "a", .replaying(mark: try #require(first.mark)), 21)
        #expect(event("pump", "a", .outage(outage("o3", from: 5, to: 6)), 22, number: 3).isEmpty)
        let second = try #require(hub.replay(for: pump))
        #expect(second.position == EventPosition(epoch: "e", number: 1) && second.mark != first.mark)
        event("pump", "a", .replaying(mark: try #require(second.mark)), 23)
        for number: UInt64 in [2, 3] {
            #expect(!event("pump", "a", .outage(outage("o\(number)", from: 3, to: 4)), 24, number: number).isEmpty)
        }
    }

    @Test mutating func `an event that follows one that was lost is not taken, and the machine tells again`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerIsBack(at: at(0))
        let pump = try place("pump")
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", from: 1, to: 2)), 3, number: 1)
        event("pump", "a", .outage(outage("o2", from: 5, to: 6)), 7, number: 2, after: 1)
        #expect(hub.replay(for: pump) == nil)
        let lost = DeviceEvent.Kind.outage(outage("o9", from: 8, to: 9))
        #expect(event("pump", "a", lost, 10, number: 9, after: 4) == [.noted(pump), .behind(pump)])
        let replay = try #require(hub.replay(for: pump))
        #expect(replay.position?.number == 2)
        event("pump", "a", .replaying(mark: try #require(replay.mark)), 11)
        // Nothing was told in between, after all.
        #expect(!event("pump", "a", lost, 12, number: 9, after: 2).isEmpty)
        #expect(hub.replay(for: pump) == nil && hub.book.knows("o9", of: pump))
    }

    @Test mutating func `a machine that says it has told of more than is known tells again`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerIsBack(at: at(0))
        let pump = try place("pump")
        var own = report(0)
        own.acknowledged = EventPosition(epoch: "e", number: 3)
        #expect(state("pump", DeviceState(session: "a", standing: .online, report: own), 0).last == .behind(pump))
        event("pump", "a", .replaying(mark: try #require(hub.replay(for: pump)?.mark)), 1)
        event("pump", "a", .outage(outage("o3", from: 1, to: 2)), 3, number: 3)
        own = report(10)
        own.acknowledged = EventPosition(epoch: "e", number: 3)
        #expect(!state("pump", DeviceState(session: "a", standing: .online, report: own), 10).contains(.behind(pump)))
    }

    @Test mutating func `a machine is asked again for another session, and once in a minute`() throws {
        hub = Hub(devices: [HubDevice(try place("pump"))], incidents: [], run: "run")
        hub.brokerIsBack(at: at(0))
        func asks(_ decisions: [Hub.Decision]) -> Bool {
            decisions.contains { if case .behind = $0 { true } else { false } }
        }
        // Its answer says how it is, too, and may come before the mark.
        #expect(asks(state("pump", online("a"), 0)))
        #expect(!asks(state("pump", online("a", 1), 1)) && !asks(state("pump", online("a", 59), 59)))
        #expect(asks(state("pump", online("b", 60), 60)))
        #expect(asks(state("pump", online("b", 120), 120)))
        hub.brokerIsBack(at: at(121))
        #expect(asks(state("pump", online("b", 122), 122)))
    }

    @Test mutating func `a machine that is forgotten while it lives begins anew`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerIsBack(at: at(0))
        let pump = try place("pump")
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", from: 1, to: 2)), 3, number: 1)
        _ = hub.forget(pump)
        var own = report(10)
        own.acknowledged = EventPosition(epoch: "e", number: 1)
        state("pump", DeviceState(session: "a", standing: .online, report: own), 10)
        #expect(hub.replay(for: pump) == nil && hub.book.incidents.isEmpty)
        #expect(!event("pump", "a", .outage(outage("o2", from: 11, to: 12)), 13, number: 2, after: 1).isEmpty)
        #expect(hub.book.knows("o2", of: pump))
    }

    @Test mutating func `one machine makes up no more than some sites`() throws {
        var refused = 0
        for number in 0..<1000 {
            let decisions = hub.take(
                .init(topic: "reach/v1/s\(number)/pump/state", payload: online("a").bytes, time: at(number))
            )
            if case .refused(_, let reason)? = decisions.first, reason.contains("of this name") { refused += 1 }
        }
        #expect(hub.devices.count == Hub.nameLimit && refused == 1000 - Hub.nameLimit)
        state("door", online("a"), 1000)
        #expect(hub.devices.count == Hub.nameLimit + 1)
        // Those that are forgotten make room.
        for place in hub.devices.keys where place.device == "pump" { _ = hub.forget(place) }
        state("pump", online("a"), 1001)
        #expect(hub.devices.count == 2)
    }

    @Test mutating func `one site does not take the places of all`() throws {
        for number in 0...Hub.siteLimit { state("d\(number)", online("a"), 0) }
        #expect(hub.devices.count == Hub.siteLimit)
        _ = hub.take(.init(topic: "reach/v1/south/pump/state", payload: online("a").bytes, time: at(1)))
        #expect(hub.devices.count == Hub.siteLimit + 1)
    }

    @Test mutating func `what a machine is asked for begins where it had told all`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerIsBack(at: at(0))
        let pump = try place("pump")
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", from: 1, to: 2)), 3, number: 1)
        event("pump", "a", .caughtUp, 4)
        state("pump", online("a", 100), 100)
        // It is back after hours, and has not told what was meanwhile when the broker is killed.
        state("pump", online("b", 20_000), 20_000)
        hub.brokerIsBack(at: at(20_010))
        let kept = try HubDevice(pump, record: try #require(hub.devices[pump]).record)
        for hub in [hub, Hub(devices: [kept], incidents: [], run: "other")] {
            let replay = try #require(hub.replay(for: pump))
            #expect(replay.since == machineWall(100) && replay.position?.number == 1)
        }
    }

    @Test mutating func `an outage that its machine has lost with its history is over with the boot`() throws {
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", .them, nil, from: 10, to: nil)), 11, number: 1)
        event("pump", "a", .outage(outage("o2", .them, nil, from: 12, to: nil)), 13, number: 2)
        event("pump", "a", .caughtUp, 14)
        state("pump", online("a", 100), 100)
        #expect(hub.book.incidents.first?.isOpen == true)
        // Of the same boot it may last.
        state("pump", online("b", 200), 200)
        event("pump", "b", .caughtUp, 201)
        #expect(hub.book.open(of: try place("pump")) != nil)
        state("pump", online("c", 5, boot: "two"), 300)
        event("pump", "c", .outage(outage("o2", .them, nil, from: 12, to: 90)), 301)
        let decisions = event("pump", "c", .caughtUp, 302)
        let incident = try #require(hub.book.incidents.first)
        #expect(!incident.isOpen && decisions.contains { if case .incident = $0 { true } else { false } })
        let own = try #require(incident.parts["pump"]?.outages)
        #expect(own["o1"]?.end == at(200) && own["o2"]?.end == at(90))
        let record = try #require(incident.parts["pump"]).record
        #expect(try FleetIncident.Part(record: record) == incident.parts["pump"])
    }

    @Test mutating func `a machine that was gone before it was known is back when it says so`() throws {
        state("pump", .will(session: "a"), 0, retained: true)
        #expect(try standing("pump") == .silent && hub.book.incidents.first?.isOpen == true)
        state("pump", online("b", 50), 50)
        event("pump", "b", .caughtUp, 51)
        #expect(try standing("pump") == .online && verdict("pump") == .beyond)
        #expect(hub.book.incidents.count == 1 && hub.book.incidents.first?.end == at(50))
    }

    // MARK: What a broker repeats that was killed

    @Test mutating func `what a machine said before its last word is not believed`() throws {
        state("pump", online("a"), 0)
        state("pump", online("a", 100), 100)
        state("pump", DeviceState(session: "a", standing: .leaving, report: report(120)), 120)
        #expect(state("pump", online("a", 100), 200).isEmpty)
        #expect(try standing("pump") == .leaving)
        #expect(hub.pass(to: at(10_000)).isEmpty && hub.book.incidents.isEmpty)
    }

    @Test mutating func `a machine that is gone is not back by a word of before`() throws {
        state("pump", online("a"), 0)
        state("pump", online("a", 100), 100)
        state("pump", .will(session: "a"), 190)
        hub.brokerIsBack(at: at(200))
        #expect(state("pump", online("a", 100), 201).isEmpty)
        #expect(try standing("pump") == .silent && hub.book.incidents.first?.isOpen == true)
        state("pump", online("a", 300), 300)
        #expect(try standing("pump") == .online)
    }

    @Test mutating func `a word of a session or a boot that is over is no other machine's`() throws {
        state("pump", online("a", 0, boot: "one"), 0)
        state("pump", online("b", 0, boot: "two"), 100)
        for isRetained in [false, true] {
            #expect(state("pump", online("a", 0, boot: "one"), 200, retained: isRetained).isEmpty)
        }
        #expect(state("pump", .will(session: "a"), 201).isEmpty)
        let device = try #require(hub.devices[try place("pump")])
        #expect(device.disputed == nil && device.presence.session == "b")
        #expect(try HubDevice(device.place, record: device.record).formerSessions == ["a"])
    }

    @Test mutating func `an outage that was written down long ago makes no second incident`() throws {
        let event = DeviceEvent(
            session: "a",
            position: nil,
            wall: machineWall(30),
            kind: .outage(outage(from: 10, to: 20))
        )
        let message = Hub.Message(topic: "reach/v1/north/pump/event", payload: event.bytes, time: at(30))
        _ = hub.take(message) { place, outage in place.device == "pump" && outage == "o1" }
        #expect(hub.book.incidents.isEmpty)
    }

    @Test mutating func `two machines under one name are noticed, and explain nothing`() throws {
        state("pump", online("a", 0, boot: "one"), 0)
        #expect(!state("pump", online("b", 0, boot: "two"), 10).contains(.disputed(try place("pump"))))
        #expect(state("pump", online("c", 20, boot: "one"), 20).contains(.disputed(try place("pump"))))
        #expect(try verdict("pump") == .unexplained)
        #expect(hub.devices[try place("pump")]?.disputed == at(20))
        // The one that stays is no stranger.
        #expect(!state("pump", online("c", 320, boot: "one"), 320).contains(.disputed(try place("pump"))))
    }

    @Test(arguments: [
        ("reach/v1/north/pump/state", "{}"), ("reach/v1/north/pump/event", "[]"), ("reach/v2/a/b/state", "{}"),
        ("reach/v1/north/pump/event", #"{"schema":1,"session":"s","wall":-1,"event":"caughtUp"}"#),
    ])
    mutating func `what is no message is refused, and makes no machine`(topic: String, payload: String) {
        let decisions = hub.take(.init(topic: topic, payload: Array(payload.utf8), time: at(1)))
        guard case .refused? = decisions.first else {
            Issue.record("\(decisions)")
            return
        }
        #expect(hub.devices.isEmpty)
    }

    @Test mutating func `a machine that floods is bounded, and others are not`() throws {
        state("pump", online("a"), 0)
        state("valve", online("v"), 0)
        for number in 0..<5000 { event("pump", "a", .outage(outage("o\(number)", from: 1, to: 2)), 3) }
        #expect(hub.devices[try place("pump")]?.refused ?? 0 > 2900)
        #expect(!event("valve", "v", .outage(outage(from: 1, to: 2)), 3).isEmpty)
        #expect(!event("pump", "a", .outage(outage("late", from: 1, to: 2)), 10).isEmpty)
        #expect(hub.devices[try place("valve")]?.refused == 0)
    }

    @Test mutating func `an event that was on its way for an hour is told when it was`() throws {
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage(from: 10, to: 20)), 3600, sent: 25)
        #expect(hub.book.incidents.map(\.start) == [at(10)])
        #expect(hub.book.incidents.map(\.end) == [at(20)])
    }

    @Test mutating func `a clock that is set in between does not move what is told`() throws {
        state("pump", online("a"), 0)
        // Ten years on, and half of it back: the reports tell, for CLOCK_BOOTTIME was not set.
        for (step, seconds) in [(315_360_000, 100), (157_680_000, 200)] {
            let own = DeviceState.Report(
                boot: "one",
                wall: machineWall(seconds + step),
                bootTime: .seconds(seconds),
                refresh: .seconds(300)
            )
            state("pump", DeviceState(session: "a", standing: .online, report: own), seconds)
            let told = outage("o\(step)", from: seconds + step + 1, to: seconds + step + 5)
            event("pump", "a", .outage(told), seconds + 10, sent: seconds + step + 10)
            #expect(hub.book.incidents.first?.start == at(seconds + 1))
        }
    }
}
