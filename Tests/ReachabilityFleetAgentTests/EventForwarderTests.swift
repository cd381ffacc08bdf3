import LinuxSupport
import MQTT
import ReachabilityFleet
import Testing

@testable import ReachabilityFleetAgent

/// The transfer of events from the log to the broker.
struct EventForwarderTests {
    private static func cursor(_ number: UInt64) -> AgentCursor {
        let position = EventPosition(epoch: "e", number: number)
        return AgentCursor(position: position, time: .seconds(Int64(number)), published: position)
    }

    @Test func `missed events after the cursor are sent at 20 per second, followed by caughtUp`() throws {
        var world = try AgentWorld(cursor: Self.cursor(7))
        let begin = world.connect()
        #expect(begin.contains(.read(after: EventPosition(epoch: "e", number: 7), waiting: false, read: 2)))
        world.acknowledge()
        let before = world.now
        var told = try world.page(Array(8...27)).events
        while told.count < 20 {
            if world.unacknowledged.isEmpty { told += world.pass().events } else { told += world.acknowledge().events }
        }
        #expect(world.now - before == .milliseconds(19 * 50))
        #expect(told.compactMap(\.position?.number) == Array(8...27))
        // The last acknowledgement moves the cursor. The agent has caught up when the log has no further events.
        var actions: [AgentMachine.Action] = []
        while !world.unacknowledged.isEmpty { actions += world.acknowledge() }
        #expect(actions.contains(.save(Self.cursor(27))))
        actions += try world.page([])
        #expect(actions.events.map(\.kind) == [.caughtUp])
        #expect(actions.contains { if case .read(_, true, _) = $0 { true } else { false } })
        // From now on events are sent immediately.
        #expect(try world.page([28, 29, 30]).events.count == 3)
    }

    @Test func `thousands of missed events are sent within seconds`() throws {
        var world = try AgentWorld(cursor: Self.cursor(0))
        world.connect()
        world.acknowledge()
        let before = world.now
        var told: [UInt64] = []
        for page in 0..<30 {
            let numbers = (1...100).map { UInt64(page * 100 + $0) }
            told += try world.page(numbers, hasMore: page < 29).events.compactMap(\.position?.number)
            while told.count < (page + 1) * 100 || !world.unacknowledged.isEmpty {
                let actions = world.unacknowledged.isEmpty ? world.pass() : world.acknowledge()
                told += actions.events.compactMap(\.position?.number)
            }
        }
        #expect(told == Array(1...3000))
        #expect(world.now - before <= .seconds(20), "\(world.now - before)")
        #expect(world.now - before >= .seconds(15))
    }

    @Test(arguments: [true, false])
    func `a hub refuses no event of an agent, for any number of missed or current events`(areMissed: Bool) throws {
        var world = try AgentWorld()
        var hub = Hub(devices: [], incidents: [], run: "run")
        func forward(_ actions: [AgentMachine.Action], at now: Duration) -> [UInt64] {
            for message in actions.messages {
                _ = hub.take(.init(topic: message.topic, payload: message.payload, time: now))
            }
            return actions.events.compactMap(\.position?.number)
        }
        _ = forward(world.connect(), at: world.now)
        if !areMissed { _ = forward(try world.page([]), at: world.now) }
        let last: UInt64 = 6000
        for first in stride(from: 1, to: last, by: 100) {
            var told = forward(try world.page(Array(first..<first + 100), hasMore: areMissed), at: world.now)
            while told.count < 100 || !world.unacknowledged.isEmpty {
                let actions = world.unacknowledged.isEmpty ? world.pass() : world.acknowledge()
                told += forward(actions, at: world.now)
            }
        }
        let device = try #require(hub.devices.values.first)
        #expect(device.refused == 0 && device.log.newest == [EventPosition(epoch: "e", number: last)])
        #expect(hub.replay(for: device.place) == nil)
    }

    @Test func `the cursor moves past acknowledged events in the order of the log`() throws {
        var world = try AgentWorld()
        world.connect()
        try world.page([])
        while !world.unacknowledged.isEmpty { world.acknowledge() }
        try world.page([1, 2, 3])
        let tokens = world.unacknowledged.map(\.token)
        #expect(!world.broker(.published(tokens[1], .success)).contains { if case .save = $0 { true } else { false } })
        #expect(world.broker(.published(tokens[0], .success)).contains(.save(Self.cursor(2))))
        // After a loss, events without an acknowledgement are sent again.
        _ = world.broker(.ended(nil))
        world.pass()
        _ = world.broker(.connected(sessionPresent: true))
        #expect(try world.page([3]).events.compactMap(\.position?.number) == [3])
    }

    @Test func `events that the log no longer has are read from the history`() throws {
        var world = try AgentWorld(
            cursor: AgentCursor(position: EventPosition(epoch: "old", number: 5), time: .seconds(9000), published: nil)
        )
        world.connect()
        let read = try #require(world.actions.lastRead)
        let ask = world.take(.page(.failure(.gone), read: read))
        guard case .readHistory(let since, let number)? = ask.first else {
            Issue.record("the forwarder does not read the history")
            return
        }
        #expect(since == .seconds(5400))
        let told = world.take(.history(.success([AgentWorld.outage("o1")]), read: number))
        #expect(told.events.map(\.kind) == [.outage(AgentWorld.outage("o1"))] && told.events.first?.position == nil)
        #expect(told.contains { if case .read(nil, false, _) = $0 { true } else { false } })
        // Only an event of this run of the service moves the cursor.
        while !world.unacknowledged.isEmpty {
            #expect(!world.acknowledge().contains { if case .save = $0 { true } else { false } })
        }
        try world.page([1], epoch: "new")
        world.pass()
        let saved = world.acknowledge()
        let first = EventPosition(epoch: "new", number: 1)
        #expect(saved.contains(.save(AgentCursor(position: first, time: .seconds(1), published: first))))
    }

    @Test func `each event contains the position of the previous event, even across connections`() throws {
        var world = try AgentWorld(cursor: Self.cursor(7))
        world.connect()
        var told = try world.page([8]).events
        let read = try #require(world.actions.lastRead)
        let untold = EventPage.Entry(position: Self.cursor(9).position, time: .seconds(9), kind: nil)
        _ = world.take(.page(.success(EventPage(entries: [untold], hasMore: true)), read: read))
        told += world.pass().events
        while !world.unacknowledged.isEmpty { world.acknowledge() }
        told += try world.page([10]).events
        told += world.pass().events
        #expect(told.compactMap(\.position?.number) == [8, 10])
        #expect(told.map(\.after) == [Self.cursor(7).position, Self.cursor(8).position])
        _ = world.broker(.ended(nil))
        world.pass()
        let state = try #require(world.broker(.connected(sessionPresent: true)).states.first)
        #expect(state.report?.acknowledged == Self.cursor(8).position)
        #expect(try world.page([10]).events.map(\.after) == [Self.cursor(8).position])
    }

    @Test func `a service that does not answer is queried again, and the error is logged once`() throws {
        var world = try AgentWorld()
        world.connect()
        var lines: [String] = []
        for _ in 0..<3 {
            let read = try #require(world.actions.lastRead)
            lines += world.take(.page(.failure(.unavailable("nobody")), read: read)).lines
            let before = world.now
            world.pass()
            #expect(world.now - before == .seconds(2))
        }
        #expect(lines == ["nobody"])
    }

    @Test func `events that are not published move the cursor too`() throws {
        var world = try AgentWorld()
        world.connect()
        let read = try #require(world.actions.lastRead)
        let entry = EventPage.Entry(position: Self.cursor(4).position, time: .seconds(4), kind: nil)
        let actions = world.take(.page(.success(EventPage(entries: [entry], hasMore: false)), read: read))
        let cursor = AgentCursor(position: entry.position, time: .seconds(4), published: nil)
        #expect(actions.contains(.save(cursor)) && actions.events.map(\.kind) == [.caughtUp])
    }

    @Test func `a cursor can be written and read, and any other text is invalid`() {
        #expect(AgentCursor(Self.cursor(3).text) == Self.cursor(3))
        let untold = AgentCursor(position: Self.cursor(3).position, time: .seconds(3), published: nil)
        #expect(untold.text == "e.3 3\n" && AgentCursor(untold.text) == untold)
        for text in ["", "e.3", "e.3 -1", "e.3 x", "e 3", "e.3 1 1", "e.3 1 e.2 1", "\u{0}", "E.1 1"] {
            #expect(AgentCursor(text) == nil)
        }
    }
}
