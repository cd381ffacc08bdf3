import LinuxSupport
import MQTT
import ReachabilityFleet
import Testing

@testable import ReachabilityFleetAgent

/// When an agent connects, and what it says of itself.
struct AgentConnectingTests {
    @Test("It connects when there is a path, and says that it is there")
    func connects() throws {
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

    @Test("It says how it is again and again, and when the path to the internet changes")
    func refreshes() throws {
        var world = try AgentWorld()
        world.connect()
        try world.page([])
        let before = world.now
        let again = world.pass()
        #expect(world.now - before == .seconds(900) && again.states.map(\.standing) == [.online])
        #expect(world.take(.internet("reachable")).states.first?.report?.path == "reachable")
        #expect(world.take(.internet("reachable")).isEmpty)
    }

    @Test("After a loss it waits by chance, and longer after each failure, and says a thing once")
    func waits() throws {
        var world = try AgentWorld()
        world.connect()
        let lost = BrokerError(AgentWorld.address, .lost)
        let refused = BrokerError(AgentWorld.address, .unreachable(.connectionRefused))
        var waits: [Duration] = []
        var lines = world.broker(.ended(lost)).lines
        for _ in 0..<9 {
            let before = world.now
            #expect(world.pass().connections.count == 1)
            waits.append(world.now - before)
            lines += world.broker(.ended(refused)).lines
        }
        // Half of the jitter of 4 s, and what grows.
        #expect(waits == [2, 4, 6, 10, 18, 34, 62, 62, 62].map { .seconds($0) })
        #expect(lines == ["\(lost); retrying", "\(refused); retrying"])
    }

    @Test("Connections that end at once, one after the other, show that another client has the name; others do not")
    func suspectsAnotherClient() throws {
        var world = try AgentWorld()
        world.connect()
        let lost = BrokerError(AgentWorld.address, .lost)
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
        // Once, and from then on each waits longer: half of the jitter of 4 s, and what grows.
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
        // A connection that lasts shows that there is none, and so does a broker that is not there.
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

    @Test("Without a path it does not try, and when one comes it waits by chance")
    func waitsForPath() throws {
        var world = try AgentWorld()
        world.connect()
        world.take(.path(isSatisfied: false))
        _ = world.broker(.ended(BrokerError(AgentWorld.address, .lost)))
        #expect(world.machine.deadline == nil)
        #expect(world.take(.path(isSatisfied: true)).isEmpty)
        #expect(world.machine.deadline == world.now + .seconds(2))
        #expect(world.pass().connections.count == 1)
    }

    @Test("It logs once that it waits for a path, and why")
    func logsThatItWaits() throws {
        var world = try AgentWorld()
        let line = "there is no path to mqtts://broker.example.org:8883 (noCarrier); waiting for one"
        #expect(world.take(.path(isSatisfied: false, reason: "noCarrier")).lines == [line])
        #expect(world.take(.path(isSatisfied: false, reason: "noCarrier")).isEmpty)
        world.connect()
        world.acknowledge()
        // While the connection lives nothing is missing; when it ends the path is.
        let lost = BrokerError(AgentWorld.address, .lost)
        #expect(world.take(.path(isSatisfied: false, reason: "noRoute")).isEmpty)
        #expect(
            world.broker(.ended(lost)).lines
                == ["\(lost); retrying", line.replacing("noCarrier", with: "noRoute")]
        )
    }

    @Test("A broker that does not answer is given up, and what the old connection says then does not count")
    func givesUp() throws {
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

    @Test("It leaves with a reason, and ends when the broker has heard it")
    func leaves() throws {
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

    @Test(
        "A broker that takes no MQTT 5 is asked with 3.1.1 at once, and from then on where it says so",
        arguments: [BrokerError.Cause.refused(.unsupportedProtocolVersion), .lost]
    )
    func fallsBack(_ cause: BrokerError.Cause) throws {
        var world = try AgentWorld()
        let first = world.take(.path(isSatisfied: true))
        #expect(first.connections.map(\.version) == [.five])
        let second = world.broker(.ended(BrokerError(AgentWorld.address, cause)))
        #expect(second.connections.map(\.version) == [.threeOneOne] && second.lines.isEmpty)
        let lines = world.broker(.connected(sessionPresent: false)).lines
        #expect(lines.last?.contains("supports MQTT 3.1.1 but not 5") == true)
        world.acknowledge()
        _ = world.broker(.ended(BrokerError(AgentWorld.address, .lost)))
        // One that has only ended a connection may have been about to end itself.
        let isSure = cause != .lost
        #expect(world.pass().connections.map(\.version) == [isSure ? .threeOneOne : .five])
        if !isSure {
            let lost = BrokerError(AgentWorld.address, .lost)
            #expect(world.broker(.ended(lost)).connections.map(\.version) == [.threeOneOne])
        }
        // It is said once.
        #expect(world.broker(.connected(sessionPresent: false)).lines.count == 1)
    }

    @Test("A broker that refuses what is said is asked less and less often, and that is said once")
    func backsOff() throws {
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
        // A word that is taken makes it begin anew.
        _ = world.broker(.connected(sessionPresent: false))
        world.acknowledge()
        _ = world.broker(.ended(BrokerError(AgentWorld.address, .lost)))
        let before = world.now
        world.pass()
        #expect(world.now == before)
    }

    @Test("A broker that takes neither is asked with MQTT 5 the next time, and one that took it never with another")
    func staysWithFive() throws {
        var world = try AgentWorld()
        world.take(.path(isSatisfied: true))
        let refused = BrokerError(AgentWorld.address, .lost)
        #expect(world.broker(.ended(refused)).connections.count == 1)
        #expect(world.broker(.ended(refused)).lines == ["\(refused); retrying"])
        #expect(world.pass().connections.map(\.version) == [.five])
        _ = world.broker(.connected(sessionPresent: false))
        _ = world.broker(.ended(refused))
        #expect(world.pass().connections.map(\.version) == [.five])
        #expect(world.broker(.ended(refused)).connections.isEmpty)
    }

    @Test("A refusal that is heard as a loss at times is said once, as both, until a word is taken")
    func saysEachOnce() throws {
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

    @Test("What the broker refuses is said, and tried again later")
    func isRefused() throws {
        var world = try AgentWorld()
        world.connect()
        let actions = world.acknowledge(.notAuthorized)
        #expect(actions.contains(.abandon))
        #expect(
            actions.lines.first?.contains("refuses messages to reach/v1/hq/door/state: not authorized") == true
        )
        #expect(world.pass().connections.count == 1)
    }
}
