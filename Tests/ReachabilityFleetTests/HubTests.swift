import ReachabilityFleet
import ReachabilityLedger
import Testing

/// The decisions of a hub for messages in the order of a broker.
@Suite struct HubTests {
    private var hub = Hub()

    init() {
        hub.brokerConnected(at: at(0))
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
        return hub.take(.init(topic: "reach/v1/north/\(device)/event", payload: event.bytes, time: at(seconds)))
    }

    private func verdict(_ device: String) throws -> SilenceVerdict? { hub.verdict(of: try place(device)) }
    private func standing(_ device: String) throws -> DevicePresence.Standing? {
        hub.devices[try place(device)]?.presence.standing
    }

    /// The machine is online at 0, becomes silent after 100 with a will at 190, and is back at 500 in another session.
    private mutating func silence(boot: String = "one", _ meanwhile: (inout Self) -> Void = { _ in }) {
        state("pump", online("a"), 0)
        state("pump", online("a", 100), 100)
        state("pump", .will(session: "a"), 190)
        meanwhile(&self)
        state("pump", online("b", 500, boot: boot), 500)
    }

    // MARK: The verdicts of the table

    @Test mutating func `an announced end is planned and opens no incident`() throws {
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

    @Test mutating func `an outage that the machine reports explains its silence in the same incident`() throws {
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

    @Test mutating func `another boot id is a power failure`() throws {
        silence(boot: "two")
        event("pump", "b", .caughtUp, 511)
        #expect(try verdict("pump") == .power)
        #expect(hub.book.incidents.first?.fault.cause?.rawValue == "power")
    }

    @Test mutating func `a silence of one machine without any fault is beyond the machine`() throws {
        silence()
        event("pump", "b", .caughtUp, 511)
        #expect(try verdict("pump") == .beyond)
        #expect(hub.book.incidents.first?.isOpen == false)
    }

    @Test mutating func `silences of several machines within 30 s are one incident of the site`() throws {
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

    @Test mutating func `sleep is not an outage`() throws {
        silence()
        event("pump", "b", .resumed(.seconds(380)), 510, number: 1)
        event("pump", "b", .caughtUp, 511)
        #expect(try verdict("pump") == .sleep)
        #expect(hub.book.incidents.first?.isHarmless == true)
    }

    @Test mutating func `a short sleep does not explain a long absence`() throws {
        state("pump", online("a"), 0)
        state("pump", .will(session: "a"), 90)
        state("pump", online("b", 3600), 3600)
        event("pump", "b", .resumed(.seconds(20)), 3601, number: 1)
        event("pump", "b", .caughtUp, 3602)
        #expect(try verdict("pump") == .beyond)
    }

    @Test mutating func `announced sleep opens no incident`() throws {
        state("pump", online("a"), 0)
        state("pump", DeviceState(session: "a", standing: .sleeping, report: report(100)), 100)
        #expect(try standing("pump") == .sleeping)
        state("pump", online("b", 5000), 5000)
        #expect(try verdict("pump") == .sleep)
        #expect(hub.book.incidents.isEmpty)
    }

    @Test mutating func `an absence without any report stays unexplained`() throws {
        silence()
        #expect(try verdict("pump") == .unexplained)
        #expect(hub.book.incidents.first?.isOpen == true)
        // The hub stops waiting for a machine that never reports. The verdict stays.
        state("pump", online("b", 800), 800)
        #expect(hub.deadline == at(500 + 15 * 60))
        _ = hub.pass(to: at(500 + 15 * 60))
        #expect(try verdict("pump") == .unexplained)
        #expect(hub.book.incidents.first?.isUnexplained == true)
        #expect(hub.book.incidents.first?.isOpen == false)
    }

    // MARK: Presence

    @Test mutating func `an absence that was not noticed gets a verdict but no incident`() throws {
        state("pump", online("a"), 0)
        state("pump", online("b", 20, boot: "two"), 60)
        event("pump", "b", .caughtUp, 61)
        #expect(try verdict("pump") == .power)
        #expect(hub.book.incidents.isEmpty)
    }

    @Test mutating func `a reported outage opens an incident without a silence`() throws {
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o", .upstream, .dns, from: 10, to: nil)), 12, number: 1)
        #expect(hub.book.incidents.first?.isOpen == true)
        #expect(try #require(hub.book.incidents.first).fault == (.upstream, .dns))
        event("pump", "a", .outage(outage("o", .upstream, .dns, from: 10, to: 60)), 61, number: 2)
        #expect(hub.book.incidents.map(\.end) == [at(60)])
        #expect(hub.devices[try place("pump")]?.gap == nil)
    }

    @Test mutating func `an announcement that arrives after the will explains the silence`() throws {
        state("pump", online("a"), 0)
        state("pump", .will(session: "a"), 60)
        #expect(hub.book.open(at: "north") != nil)
        state("pump", DeviceState(session: "a", standing: .leaving, report: report(50)), 61)
        #expect(try verdict("pump") == .planned(reason: nil))
        #expect(hub.book.open(at: "north") == nil)
    }

    @Test mutating func `a restart of the broker opens no incident except for machines that do not return`() throws {
        for number in 0..<100 { state("d\(number)", online("s\(number)"), 0) }
        #expect(hub.brokerDisconnected().count == 100)
        #expect(try standing("d7") == .unknown)
        #expect(hub.deadline == nil)
        hub.brokerConnected(at: at(86_400))
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

    @Test mutating func `events of a session that arrive before its birth message count`() throws {
        state("pump", online("a"), 0)
        state("pump", .will(session: "a"), 90)
        event("pump", "b", .resumed(.seconds(400)), 499, number: 1)
        event("pump", "b", .caughtUp, 499)
        state("pump", online("b", 500), 500)
        #expect(try verdict("pump") == .sleep)
        #expect(hub.book.open(at: "north") == nil)
    }

    @Test mutating func `caughtUp of an earlier session does not count`() throws {
        silence()
        event("pump", "a", .caughtUp, 505)
        #expect(try verdict("pump") == .unexplained)
    }

    // MARK: Repeated messages, forged messages and clocks

    @Test mutating func `a repeated event is dropped by its log position`() throws {
        state("pump", online("a"), 0)
        let own = DeviceEvent.Kind.outage(outage(from: 10, to: 20))
        #expect(!event("pump", "a", own, 30, number: 7).isEmpty)
        for number: UInt64 in [7, 6, 1] { #expect(event("pump", "a", own, 31, number: number).isEmpty) }
        #expect(!event("pump", "a", .outage(outage("o2", from: 100, to: 120)), 130, number: 8).isEmpty)
        #expect(hub.book.incidents.count == 2)
    }

    @Test mutating func `events of a machine that is behind are ignored until it sends the latest mark`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerConnected(at: at(0))
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", from: 1, to: 2)), 3, number: 1)
        hub.brokerConnected(at: at(10))
        let pump = try place("pump")
        let first = try #require(hub.replay(for: pump))
        event("pump", "a", .replaying(mark: try #require(first.mark)), 11)
        #expect(hub.replay(for: pump) == nil)
        // The broker is killed again, and loses the second event. It repeats the messages that it had on disk.
        hub.brokerConnected(at: at(20))
        event("pump", "a", .replaying(mark: try #require(first.mark)), 21)
        #expect(event("pump", "a", .outage(outage("o3", from: 5, to: 6)), 22, number: 3).isEmpty)
        let second = try #require(hub.replay(for: pump))
        #expect(second.position == EventPosition(epoch: "e", number: 1) && second.mark != first.mark)
        event("pump", "a", .replaying(mark: try #require(second.mark)), 23)
        for number: UInt64 in [2, 3] {
            #expect(!event("pump", "a", .outage(outage("o\(number)", from: 3, to: 4)), 24, number: number).isEmpty)
        }
    }

    @Test mutating func `an event after a lost event is dropped and a replay is requested`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerConnected(at: at(0))
        let pump = try place("pump")
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", from: 1, to: 2)), 3, number: 1)
        event("pump", "a", .outage(outage("o2", from: 5, to: 6)), 7, number: 2, after: 1)
        #expect(hub.replay(for: pump) == nil)
        let lost = DeviceEvent.Kind.outage(outage("o9", from: 8, to: 9))
        #expect(event("pump", "a", lost, 10, number: 9, after: 4) == [.noted(pump), .replayRequired(pump)])
        let replay = try #require(hub.replay(for: pump))
        #expect(replay.position?.number == 2)
        event("pump", "a", .replaying(mark: try #require(replay.mark)), 11)
        // The machine sent no other event in between.
        #expect(!event("pump", "a", lost, 12, number: 9, after: 2).isEmpty)
        #expect(hub.replay(for: pump) == nil && hub.book.contains("o9", of: pump))
    }

    @Test mutating func `an acknowledged position that the hub does not know starts a replay`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerConnected(at: at(0))
        let pump = try place("pump")
        var own = report(0)
        own.acknowledged = EventPosition(epoch: "e", number: 3)
        #expect(
            state("pump", DeviceState(session: "a", standing: .online, report: own), 0).last == .replayRequired(pump)
        )
        event("pump", "a", .replaying(mark: try #require(hub.replay(for: pump)?.mark)), 1)
        event("pump", "a", .outage(outage("o3", from: 1, to: 2)), 3, number: 3)
        own = report(10)
        own.acknowledged = EventPosition(epoch: "e", number: 3)
        #expect(
            !state("pump", DeviceState(session: "a", standing: .online, report: own), 10).contains(
                .replayRequired(pump)
            )
        )
    }

    @Test mutating func `a replay is requested once per minute and in each new session`() throws {
        hub = Hub(devices: [HubDevice(try place("pump"))], incidents: [], run: "run")
        hub.brokerConnected(at: at(0))
        func asks(_ decisions: [Hub.Decision]) -> Bool {
            decisions.contains { if case .replayRequired = $0 { true } else { false } }
        }
        // The answer contains another state, which may arrive before the mark.
        #expect(asks(state("pump", online("a"), 0)))
        #expect(!asks(state("pump", online("a", 1), 1)) && !asks(state("pump", online("a", 59), 59)))
        #expect(asks(state("pump", online("b", 60), 60)))
        #expect(asks(state("pump", online("b", 120), 120)))
        hub.brokerConnected(at: at(121))
        #expect(asks(state("pump", online("b", 122), 122)))
    }

    @Test mutating func `a deleted machine that is online is added again without its earlier events`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerConnected(at: at(0))
        let pump = try place("pump")
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", from: 1, to: 2)), 3, number: 1)
        _ = hub.forget(pump)
        var own = report(10)
        own.acknowledged = EventPosition(epoch: "e", number: 1)
        state("pump", DeviceState(session: "a", standing: .online, report: own), 10)
        #expect(hub.replay(for: pump) == nil && hub.book.incidents.isEmpty)
        #expect(!event("pump", "a", .outage(outage("o2", from: 11, to: 12)), 13, number: 2, after: 1).isEmpty)
        #expect(hub.book.contains("o2", of: pump))
    }

    @Test mutating func `the number of sites with a machine of one name is limited`() throws {
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
        // Deleted machines no longer count.
        for place in hub.devices.keys where place.device == "pump" { _ = hub.forget(place) }
        state("pump", online("a"), 1001)
        #expect(hub.devices.count == 2)
    }

    @Test mutating func `the number of machines of one site is limited`() throws {
        for number in 0...Hub.siteLimit { state("d\(number)", online("a"), 0) }
        #expect(hub.devices.count == Hub.siteLimit)
        _ = hub.take(.init(topic: "reach/v1/south/pump/state", payload: online("a").bytes, time: at(1)))
        #expect(hub.devices.count == Hub.siteLimit + 1)
    }

    @Test mutating func `a replay begins at the last time at which the machine had sent all events`() throws {
        hub = Hub(devices: [], incidents: [], run: "run")
        hub.brokerConnected(at: at(0))
        let pump = try place("pump")
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", from: 1, to: 2)), 3, number: 1)
        event("pump", "a", .caughtUp, 4)
        state("pump", online("a", 100), 100)
        // The machine is back after hours. The broker is killed before the machine has sent the events of that time.
        state("pump", online("b", 20_000), 20_000)
        hub.brokerConnected(at: at(20_010))
        let kept = try HubDevice(pump, record: try #require(hub.devices[pump]).record)
        for hub in [hub, Hub(devices: [kept], incidents: [], run: "other")] {
            let replay = try #require(hub.replay(for: pump))
            #expect(replay.since == machineWall(100) && replay.position?.number == 1)
        }
    }

    @Test mutating func `an outage that the machine has lost with its history ends with the boot`() throws {
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage("o1", .them, nil, from: 10, to: nil)), 11, number: 1)
        event("pump", "a", .outage(outage("o2", .them, nil, from: 12, to: nil)), 13, number: 2)
        event("pump", "a", .caughtUp, 14)
        state("pump", online("a", 100), 100)
        #expect(hub.book.incidents.first?.isOpen == true)
        // In the same boot the outage may continue.
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

    @Test mutating func `a machine that is known only by its will becomes online with its first state`() throws {
        state("pump", .will(session: "a"), 0, retained: true)
        #expect(try standing("pump") == .silent && hub.book.incidents.first?.isOpen == true)
        state("pump", online("b", 50), 50)
        event("pump", "b", .caughtUp, 51)
        #expect(try standing("pump") == .online && verdict("pump") == .beyond)
        #expect(hub.book.incidents.count == 1 && hub.book.incidents.first?.end == at(50))
    }

    // MARK: Messages that a killed broker repeats

    @Test mutating func `a state older than the last one is ignored`() throws {
        state("pump", online("a"), 0)
        state("pump", online("a", 100), 100)
        state("pump", DeviceState(session: "a", standing: .leaving, report: report(120)), 120)
        #expect(state("pump", online("a", 100), 200).isEmpty)
        #expect(try standing("pump") == .leaving)
        #expect(hub.pass(to: at(10_000)).isEmpty && hub.book.incidents.isEmpty)
    }

    @Test mutating func `a repeated state does not end a silence`() throws {
        state("pump", online("a"), 0)
        state("pump", online("a", 100), 100)
        state("pump", .will(session: "a"), 190)
        hub.brokerConnected(at: at(200))
        #expect(state("pump", online("a", 100), 201).isEmpty)
        #expect(try standing("pump") == .silent && hub.book.incidents.first?.isOpen == true)
        state("pump", online("a", 300), 300)
        #expect(try standing("pump") == .online)
    }

    @Test mutating func `a repeated message of an earlier session is not a second machine`() throws {
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

    @Test mutating func `an outage of an incident that is only in the store opens no second incident`() throws {
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

    @Test mutating func `two machines with one name are reported and their absences stay unexplained`() throws {
        state("pump", online("a", 0, boot: "one"), 0)
        #expect(!state("pump", online("b", 0, boot: "two"), 10).contains(.disputed(try place("pump"))))
        #expect(state("pump", online("c", 20, boot: "one"), 20).contains(.disputed(try place("pump"))))
        #expect(try verdict("pump") == .unexplained)
        #expect(hub.devices[try place("pump")]?.disputed == at(20))
        // The machine that continues to send is not reported again.
        #expect(!state("pump", online("c", 320, boot: "one"), 320).contains(.disputed(try place("pump"))))
    }

    @Test(arguments: [
        ("reach/v1/north/pump/state", "{}"), ("reach/v1/north/pump/event", "[]"), ("reach/v2/a/b/state", "{}"),
        ("reach/v1/north/pump/event", #"{"schema":1,"session":"s","wall":-1,"event":"caughtUp"}"#),
    ])
    mutating func `an invalid message is refused and adds no machine`(topic: String, payload: String) {
        let decisions = hub.take(.init(topic: topic, payload: Array(payload.utf8), time: at(1)))
        guard case .refused? = decisions.first else {
            Issue.record("\(decisions)")
            return
        }
        #expect(hub.devices.isEmpty)
    }

    @Test mutating func `the message rate of one machine is limited without effect on others`() throws {
        state("pump", online("a"), 0)
        state("valve", online("v"), 0)
        for number in 0..<5000 { event("pump", "a", .outage(outage("o\(number)", from: 1, to: 2)), 3) }
        #expect(hub.devices[try place("pump")]?.refused ?? 0 > 2900)
        #expect(!event("valve", "v", .outage(outage(from: 1, to: 2)), 3).isEmpty)
        #expect(!event("pump", "a", .outage(outage("late", from: 1, to: 2)), 10).isEmpty)
        #expect(hub.devices[try place("valve")]?.refused == 0)
    }

    @Test mutating func `an event that arrives an hour late has its own time`() throws {
        state("pump", online("a"), 0)
        event("pump", "a", .outage(outage(from: 10, to: 20)), 3600, sent: 25)
        #expect(hub.book.incidents.map(\.start) == [at(10)])
        #expect(hub.book.incidents.map(\.end) == [at(20)])
    }

    @Test mutating func `setting the clock of a machine does not move its outages`() throws {
        state("pump", online("a"), 0)
        // The clock is set ten years forward, then five years back. The reports show the change, because CLOCK_BOOTTIME
        // is not affected.
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
