import LinuxSupport
import MQTT
import NetworkLab
import ReachabilityFleet
import Testing

@testable import ReachabilityFleetHub

/// A hub with a simulated broker.
@Suite struct BrokerFollowerTests {
    private static func state(_ message: Hub.Message, isRetained: Bool = false) -> BrokerEvent {
        .message(BrokerMessage(topic: message.topic, payload: message.payload, isRetained: isRetained))
    }

    private static func connected(_ world: HubWorld, _ number: Int = 1) async throws -> PlayedBroker.Connection {
        try #require(try await eventually { world.broker.connections.count == number })
        let connection = world.broker.connections[number - 1]
        connection.listener(.connected(sessionPresent: false))
        try #require(try await eventually { world.follower.status.isConnected })
        return connection
    }

    @Test func `the hub publishes its state, subscribes to all machines and announces its end`() async throws {
        let world = try HubWorld()
        try world.follower.begin()
        let connection = try await Self.connected(world)
        #expect(connection.options.client == "hub" && connection.options.sessionExpiry > .zero)
        let will = try #require(connection.options.will)
        #expect(will.message.topic == "reach/v1/$hub/state" && will.message.isRetained)
        #expect(try !HubState(will.message.payload).isOnline)
        #expect(try await eventually { connection.calls.count >= 2 })
        #expect(try HubState(try #require(connection.published.first).payload).isOnline)
        #expect(connection.calls.contains(.subscribe(["reach/v1/+/+/state", "reach/v1/+/+/event"])))
        await world.follower.stop()
        #expect(connection.calls.last == .close)
        #expect(try HubState(try #require(connection.published.last).payload).isOnline == false)
    }

    @Test func `a new process requests a replay from each machine and ignores events until then`() async throws {
        let world = try HubWorld()
        world.writer.brokerConnected()
        world.receive([.online("d0", "a", 0), .event("d0", "a", 1, .outage(outage("o", 0, 1)), number: 7)])
        // A new process with the same store.
        let next = try HubWorld(store: world.store)
        try next.follower.begin()
        let connection = try await Self.connected(next)
        connection.listener(Self.state(.event("d0", "a", 3, .outage(outage("q", 2, 3)), number: 9)))
        connection.listener(Self.state(.online("d0", "a", 2), isRetained: true))
        connection.listener(Self.state(.online("d1", "x", 0), isRetained: true))
        try #require(try await eventually { connection.published.count == 3 })
        let commands = try connection.published.dropFirst().map { message in
            (message.topic, try DeviceCommand(message.payload))
        }
        #expect(Set(commands.map(\.0)) == ["reach/v1/north/d0/cmd", "reach/v1/north/d1/cmd"])
        var mark = ""
        for case (let topic, .replay(let replay)) in commands {
            let isKnown = topic == "reach/v1/north/d0/cmd"
            #expect(replay.position == (isKnown ? EventPosition(epoch: "e", number: 7) : nil))
            #expect((replay.since != nil) == isKnown)
            if isKnown { mark = try #require(replay.mark) }
        }
        next.writer.flush()
        #expect(try !next.store.hasOutage("q", of: place("d0")))
        for (kind, number) in [
            (DeviceEvent.Kind.replaying(mark: "other"), UInt64?.none), (.outage(outage("p", 1, 2)), 8),
            (.replaying(mark: mark), nil), (.outage(outage("p", 1, 2)), 8), (.outage(outage("q", 2, 3)), 9),
        ] {
            connection.listener(Self.state(.event("d0", "a", 4, kind, number: number)))
        }
        next.writer.flush()
        for id in ["o", "p", "q"] { #expect(try next.store.hasOutage(id, of: place("d0"))) }
        await next.follower.stop()
    }

    @Test func `machines are unknown while the broker is away and the hub reconnects`() async throws {
        let world = try HubWorld()
        try world.follower.begin()
        let first = try await Self.connected(world)
        first.listener(Self.state(.online("d0", "a", 0)))
        world.writer.flush()
        #expect(world.writer.hub.devices.values.first?.presence.standing == .online)
        first.listener(.ended(nil))
        try #require(try await eventually { world.broker.connections.count == 2 })
        world.writer.flush()
        #expect(world.writer.hub.devices.values.first?.presence.standing == .unknown)
        #expect(!world.follower.status.isConnected && world.follower.status.problem != nil)
        // Later events of the old connection are ignored.
        first.listener(.connected(sessionPresent: true))
        let second = try await Self.connected(world, 2)
        // A broker that was killed has lost undelivered messages, so events of the machine are ignored until its
        // replay.
        second.listener(Self.state(.event("d0", "a", 3, .outage(outage("q", 2, 3)), number: 9)))
        second.listener(Self.state(.online("d0", "a", 2), isRetained: true))
        try #require(
            try await eventually {
                second.published.contains { $0.topic == "reach/v1/north/d0/cmd" }
            }
        )
        world.writer.flush()
        #expect(try !world.store.hasOutage("q", of: place("d0")))
        #expect(world.follower.status.connections == 2 && second.options.client == "hub")
        await world.follower.stop()
    }

    @Test func `several short connections in a row are reported as a conflict of names`() async throws {
        let world = try HubWorld()
        try world.follower.begin()
        for number in 1...3 {
            let connection = try await Self.connected(world, number)
            #expect(world.follower.status.problem == nil)
            connection.listener(.ended(BrokerError(connection.options.address, .lost)))
        }
        try await waitUntil { world.follower.status.problem?.contains("another client") == true }
        let problem = try #require(world.follower.status.problem)
        #expect(problem.contains("hub") && problem.contains("--name"), "\(problem)")
        await world.follower.stop()
    }

    @Test func `messages that arrive immediately after a reconnection are handled after it`() async throws {
        let world = try HubWorld()
        try world.follower.begin()
        let first = try await Self.connected(world)
        first.listener(Self.state(.online("d0", "a", 0)))
        first.listener(Self.state(.event("d0", "a", 1, .outage(outage("o", 0, 1)), number: 4)))
        first.listener(.ended(nil))
        let isBack = try await eventually { world.broker.connections.count == 2 }
        try #require(isBack, "\(world.follower.state.withLock { ($0.link, $0.status) })")
        let second = world.broker.connections[1]
        // The messages arrive before the queue of the hub has handled the connection. The fifth event is lost.
        second.listener(.connected(sessionPresent: true))
        second.listener(Self.state(.event("d0", "a", 3, .outage(outage("q", 2, 3)), number: 6)))
        world.writer.flush()
        #expect(try !world.store.hasOutage("q", of: place("d0")))
        #expect(try world.writer.hub.replay(for: place("d0"))?.position?.number == 4)
        // Messages of an ended connection are ignored.
        first.listener(Self.state(.online("d1", "x", 4)))
        world.writer.flush()
        #expect(try world.writer.hub.devices[place("d1")] == nil)
        await world.follower.stop()
    }

    @Test func `a message after a lost one is handled after the loss`() throws {
        let world = try HubWorld()
        world.writer.brokerConnected()
        world.receive([.online("d0", "a", 0), .event("d0", "a", 1, .outage(outage("o", 0, 1)), number: 4)])
        world.writer.recordDroppedMessage(try place("d0"))
        world.receive([.event("d0", "a", 3, .outage(outage("q", 2, 3)), number: 6)])
        #expect(try !world.store.hasOutage("q", of: place("d0")))
    }

    @Test func `a replay is requested after a message was dropped`() async throws {
        let world = try HubWorld()
        try world.follower.begin()
        let connection = try await Self.connected(world)
        connection.listener(Self.state(.online("d0", "a", 0)))
        world.writer.flush()
        #expect(try await eventually { connection.published.count == 1 })
        world.writer.recordDroppedMessage(try place("d0"))
        try #require(try await eventually { connection.published.count == 2 })
        #expect(connection.published.last?.topic == "reach/v1/north/d0/cmd")
        await world.follower.stop()
    }
}

/// The delays between connection attempts.
@Suite struct BrokerLinkTests {
    @Test func `the first attempt is immediate and later attempts follow a random delay`() {
        var link = BrokerLink(jitter: .seconds(10))
        #expect(link.pass(to: .seconds(1)) == nil && link.deadline == nil)
        #expect(link.changePath(true, at: .seconds(1), chance: 1) == .connect)
        link.scheduleReconnect(at: .seconds(2), chance: 0.5)
        #expect(link.state == .waiting(until: .seconds(7)))
        #expect(link.pass(to: .seconds(6)) == nil)
        #expect(link.pass(to: .seconds(7)) == .connect)
        link.scheduleReconnect(at: .seconds(8), chance: 0)
        #expect(link.deadline == .seconds(10))
        for _ in 0..<20 { link.scheduleReconnect(at: .seconds(100), chance: 0) }
        #expect(link.deadline == .seconds(160))
        _ = link.pass(to: .seconds(160))
        _ = link.accept(at: .seconds(160))
        link.confirm()
        link.scheduleReconnect(at: .seconds(200), chance: 0)
        #expect(link.deadline == .seconds(200) && link.attempts == 3)
    }

    @Test func `no attempt is made without a path and a silent broker is abandoned`() {
        var link = BrokerLink(jitter: .seconds(10))
        _ = link.changePath(true, at: .zero, chance: 0)
        #expect(link.pass(to: .seconds(19)) == nil)
        #expect(link.pass(to: .seconds(20)) == .abandon)
        _ = link.changePath(false, at: .seconds(20), chance: 0)
        link.scheduleReconnect(at: .seconds(20), chance: 0)
        #expect(link.state == .idle)
        #expect(link.changePath(true, at: .seconds(30), chance: 0.1) == nil)
        #expect(link.deadline == .seconds(31))
        _ = link.changePath(false, at: .seconds(30), chance: 0)
        #expect(link.state == .idle)
    }
}
