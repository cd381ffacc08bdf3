import LinuxSupport
import MQTT
import ReachabilityFleet
import Testing

@testable import ReachabilityFleetAgent

/// The connections of an agent and its states.
struct AgentConnectingTests {
    private let lost = BrokerError(AgentWorld.address, .lost)

    @Test func `the agent connects when there is a path and publishes its state`() throws {
        var world = try AgentWorld()
        #expect(world.take(.time).isEmpty)
        #expect(world.take(.path(isSatisfied: false, reason: "resolving")).isEmpty && world.machine.deadline == nil)
        let options = try #require(world.take(.path(isSatisfied: true)).connections.first)
        #expect(options.client == "door" && options.address == AgentWorld.address)
        let will = try #require(options.will)
        #expect(will.message.topic == "reach/v1/hq/door/state" && will.message.isRetained)
        #expect(will.delay == .seconds(30) && will.message.expiry == .seconds(2700))
        #expect(options.sessionExpiry >= will.delay)

        let actions = world.broker(.connected(sessionPresent: false))
        let birth = try #require(actions.states.first)
        #expect(birth.standing == .online)
        #expect(try DeviceState(will.message.payload).session == birth.session)
        #expect(birth.report?.refresh == .seconds(900) && birth.report?.boot == "b")
        #expect(actions.messages.first?.isRetained == true)
        #expect(actions.contains(.subscribe(["reach/v1/hq/door/cmd"])))
        #expect(actions.lines == ["connected to mqtts://broker.example.org:8883, as hq/door"])
    }

    @Test func `the agent publishes its state at intervals and when the path to the internet changes`() throws {
        var world = try AgentWorld()
        world.connect()
        try world.page([])
        let before = world.now
        let again = world.pass()
        #expect(world.now - before == .seconds(900) && again.states.map(\.standing) == [.online])
        #expect(world.take(.internet("reachable")).states.first?.report?.path == "reachable")
        #expect(world.take(.internet("reachable")).isEmpty)
    }

    @Test func `after a loss the agent waits a random time that grows with failures, and logs each error once`() throws
    {
        var world = try AgentWorld()
        world.connect()
        let refused = BrokerError(AgentWorld.address, .unreachable(.connectionRefused))
        var waits: [Duration] = []
        var lines = world.broker(.ended(lost)).lines
        for _ in 0..<9 {
            let before = world.now
            #expect(world.pass().connections.count == 1)
            waits.append(world.now - before)
            lines += world.broker(.ended(refused)).lines
        }
        // Half of the jitter of 4 s, plus the growing delay.
        #expect(waits == [2, 4, 6, 10, 18, 34, 62, 62, 62].map { .seconds($0) })
        #expect(lines == ["\(lost); retrying", "\(refused); retrying"])
    }

    @Test func `several short connections in a row are reported as a conflict of names`() throws {
        var world = try AgentWorld()
        world.connect()
        func lines(after life: Duration, _ error: BrokerError, in world: inout AgentWorld) -> [String] {
            world.wait(life)
            let lines = world.broker(.ended(error)).lines
            world.forgetMessages()
            world.pass()
            _ = world.broker(.connected(sessionPresent: true))
            return lines.filter { $0.contains("another client") }
        }
        #expect(lines(after: .seconds(1), lost, in: &world).isEmpty)
        #expect(lines(after: .seconds(1), lost, in: &world).isEmpty)
        let told = lines(after: .seconds(1), lost, in: &world)
        #expect(told.count == 1 && told[0].contains("door") && told[0].contains("--device"))
        // The conflict is reported once. After that, the delays grow: half of the jitter of 4 s, plus the growing
        // delay.
        var waits: [Duration] = []
        for _ in 0..<5 {
            world.wait(.seconds(1))
            #expect(!world.broker(.ended(lost)).lines.contains { $0.contains("another client") })
            let before = world.now
            world.pass()
            waits.append(world.now - before)
            _ = world.broker(.connected(sessionPresent: true))
        }
        #expect(waits == [18, 34, 62, 62, 62].map { .seconds($0) })
        // A long connection shows that there is no other client. An unreachable broker shows it too.
        #expect(lines(after: .seconds(400), lost, in: &world).isEmpty)
        #expect(lines(after: .seconds(1), lost, in: &world).isEmpty)
        world.wait(.seconds(1))
        _ = world.broker(.ended(lost))
        world.pass()
        _ = world.broker(.ended(BrokerError(AgentWorld.address, .unreachable(.connectionRefused))))
        world.pass()
        _ = world.broker(.connected(sessionPresent: true))
        #expect(lines(after: .seconds(1), lost, in: &world).isEmpty)
    }

    @Test func `the agent does not connect without a path, and waits a random time after the path is back`() throws {
        var world = try AgentWorld()
        world.connect()
        world.take(.path(isSatisfied: false))
        _ = world.broker(.ended(lost))
        #expect(world.machine.deadline == nil)
        #expect(world.take(.path(isSatisfied: true)).isEmpty)
        #expect(world.machine.deadline == world.now + .seconds(2))
        #expect(world.pass().connections.count == 1)
    }

    @Test func `the agent logs once that it waits for a path, with the reason`() throws {
        var world = try AgentWorld()
        let line = "there is no path to mqtts://broker.example.org:8883 (noCarrier); waiting for one"
        #expect(world.take(.path(isSatisfied: false, reason: "noCarrier")).lines == [line])
        #expect(world.take(.path(isSatisfied: false, reason: "noCarrier")).isEmpty)
        world.connect()
        world.acknowledge()
        // A missing path is not reported while the connection works. It is reported when the connection ends.
        #expect(world.take(.path(isSatisfied: false, reason: "noRoute")).isEmpty)
        #expect(
            world.broker(.ended(lost)).lines
                == ["\(lost); retrying", line.replacing("noCarrier", with: "noRoute")]
        )
    }

    @Test func `the agent drops a broker that does not answer and ignores later events of the old connection`() throws {
        var world = try AgentWorld()
        world.take(.path(isSatisfied: true))
        let before = world.now
        let actions = world.pass()
        #expect(world.now - before == .seconds(20) && actions.contains(.abandon))
        let deadline = world.machine.deadline
        #expect(world.broker(.ended(nil)).isEmpty && world.machine.deadline == deadline)
        world.pass()
        #expect(world.take(.broker(.connected(sessionPresent: true), connection: 1)).isEmpty)
        #expect(!world.broker(.connected(sessionPresent: true)).isEmpty)
    }

    @Test func `the agent publishes the reason of its end and stops after the acknowledgement`() throws {
        var world = try AgentWorld()
        world.connect()
        world.acknowledge()
        let farewell = try #require(world.take(.leave("stopped")).states.first)
        #expect(farewell.standing == .leaving && farewell.report?.reason == "stopped")
        #expect(world.acknowledge() == [.close])
        #expect(world.broker(.ended(nil)) == [.end])

        var silent = try AgentWorld()
        silent.connect()
        silent.take(.leave("stopped"))
        #expect(silent.pass() == [.abandon, .end])

        var unconnected = try AgentWorld()
        #expect(unconnected.take(.leave("stopped")) == [.end])
    }

    @Test(arguments: [BrokerError.Cause.refused(.unsupportedProtocolVersion), .lost])
    func `the agent tries MQTT 3.1.1 immediately after MQTT 5 fails, and keeps it if the broker refused MQTT 5`(
        _ cause: BrokerError.Cause
    ) throws {
        var world = try AgentWorld()
        let first = world.take(.path(isSatisfied: true))
        #expect(first.connections.map(\.version) == [.five])
        let second = world.broker(.ended(BrokerError(AgentWorld.address, cause)))
        #expect(second.connections.map(\.version) == [.threeOneOne] && second.lines.isEmpty)
        let lines = world.broker(.connected(sessionPresent: false)).lines
        #expect(lines.last?.contains("supports MQTT 3.1.1 but not 5") == true)
        world.acknowledge()
        _ = world.broker(.ended(lost))
        // A broker that only closed the connection may have been stopping.
        let isSure = cause != .lost
        #expect(world.pass().connections.map(\.version) == [isSure ? .threeOneOne : .five])
        if !isSure {
            #expect(world.broker(.ended(lost)).connections.map(\.version) == [.threeOneOne])
        }
        // The fallback is logged once.
        #expect(world.broker(.connected(sessionPresent: false)).lines.count == 1)
    }

    @Test func `the delay grows while the broker refuses messages, and the refusal is logged once`() throws {
        var world = try AgentWorld(chance: 0)
        world.take(.path(isSatisfied: true))
        var (lines, waits): ([String], [Duration]) = ([], [])
        for _ in 0..<9 {
            lines += world.broker(.connected(sessionPresent: false)).lines
            lines += world.acknowledge(.notAuthorized).lines
            world.forgetMessages()
            let before = world.now
            world.pass()
            waits.append(world.now - before)
        }
        #expect(waits == [0, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) })
        #expect(lines.count == 2)
        // An accepted message resets the delay.
        _ = world.broker(.connected(sessionPresent: false))
        world.acknowledge()
        _ = world.broker(.ended(lost))
        let before = world.now
        world.pass()
        #expect(world.now == before)
    }

    @Test func `the next attempt uses MQTT 5 if both versions fail, and always after MQTT 5 was accepted`() throws {
        var world = try AgentWorld()
        world.take(.path(isSatisfied: true))
        #expect(world.broker(.ended(lost)).connections.count == 1)
        #expect(world.broker(.ended(lost)).lines == ["\(lost); retrying"])
        #expect(world.pass().connections.map(\.version) == [.five])
        _ = world.broker(.connected(sessionPresent: false))
        _ = world.broker(.ended(lost))
        #expect(world.pass().connections.map(\.version) == [.five])
        #expect(world.broker(.ended(lost)).connections.isEmpty)
    }

    @Test func `two alternating errors are logged once each until a message is accepted`() throws {
        var world = try AgentWorld()
        let problems = [BrokerError.Cause.refused(.notAuthorized), .silent].map { BrokerError(AgentWorld.address, $0) }
        world.take(.path(isSatisfied: true))
        var lines: [String] = []
        for number in 0..<6 {
            lines += world.broker(.ended(problems[number % 2])).lines
            _ = world.pass()
        }
        #expect(lines == problems.map { "\($0); retrying" })
        _ = world.broker(.connected(sessionPresent: false))
        world.acknowledge()
        #expect(world.broker(.ended(problems[0])).lines == ["\(problems[0]); retrying"])
    }

    @Test func `a message that the broker refuses is logged and sent again later`() throws {
        var world = try AgentWorld()
        world.connect()
        let actions = world.acknowledge(.notAuthorized)
        #expect(actions.contains(.abandon))
        #expect(actions.lines.first?.contains("refuses messages to reach/v1/hq/door/state: not authorized") == true)
        #expect(world.pass().connections.count == 1)
    }
}
