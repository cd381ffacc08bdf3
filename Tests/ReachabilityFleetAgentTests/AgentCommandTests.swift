import LinuxSupport
import MQTT
import ReachabilityFleet
import TestSupport
import Testing

@testable import ReachabilityFleetAgent

/// The answers of an agent to commands.
struct AgentCommandTests {
    private static func ask(_ world: inout AgentWorld, _ payload: [UInt8]) -> [AgentMachine.Action] {
        world.broker(.message(BrokerMessage(topic: "reach/v1/hq/door/cmd", payload: payload)))
    }

    private static func world(_ permissions: Set<AgentOptions.Permission> = []) throws -> AgentWorld {
        var world = try AgentWorld { $0.permissions = permissions }
        world.connect()
        try world.page([])
        return world
    }

    @Test func `the agent answers with its status and replays events from a log position`() throws {
        var world = try Self.world()
        #expect(Self.ask(&world, DeviceCommand.detail.bytes) == [.answer(.detail)])
        let answer = DeviceAnswer(to: .detail, body: Array(#"{"a":1}"#.utf8))
        #expect(world.take(.answered(answer)).answers.map(\.command) == ["detail"])
        let place = EventPosition(epoch: "e", number: 3)
        let replay = Self.ask(&world, DeviceCommand.replay(.init(after: place)).bytes)
        #expect(replay.answers.first?.command == "replay-from" && replay.answers.first?.problem == nil)
        #expect(replay.contains { if case .read(place, false, _) = $0 { true } else { false } })
        #expect(try world.page([4]).events.compactMap(\.position?.number) == [4])
    }

    @Test func `a replay without a position includes the history, even if the connection is lost meanwhile`() throws {
        var world = try Self.world()
        let replay = DeviceCommand.replay(.init(after: nil, since: .seconds(9000), mark: "m"))
        let asked = Self.ask(&world, replay.bytes)
        #expect(asked.events.map(\.kind) == [.replaying(mark: "m")])
        func isHistory(_ actions: [AgentMachine.Action]) -> Bool {
            actions.contains { if case .readHistory(.seconds(5400), _) = $0 { true } else { false } }
        }
        #expect(isHistory(asked))
        let read = try #require(world.actions.lastRead)
        #expect(world.take(.history(.success([AgentWorld.outage("o1")]), read: read)).events.count == 1)
        // The event is not acknowledged yet.
        _ = world.broker(.ended(nil))
        world.pass()
        #expect(isHistory(world.broker(.connected(sessionPresent: true))))
        let again = try #require(world.actions.lastRead)
        _ = world.take(.history(.success([AgentWorld.outage("o1")]), read: again))
        try world.page([])
        while !world.unacknowledged.isEmpty { world.acknowledge() }
        world.pass()
        _ = world.broker(.ended(nil))
        world.pass()
        #expect(!isHistory(world.broker(.connected(sessionPresent: true))))
    }

    @Test(arguments: ExtremeValues.integers)
    func `the start of a requested history is never later than now`(since: Int64) throws {
        var world = try Self.world()
        let payload = Array(#"{"schema":1,"command":"replay-from","since":\#(since)}"#.utf8)
        for action in Self.ask(&world, payload) {
            guard case .readHistory(let time, _) = action else { continue }
            #expect(time >= .zero && time <= .seconds(1_700_000_000))
        }
        world.pass()
        let text = "e.3 \(since)\n"
        let cursor = AgentCursor(text)
        #expect(cursor == nil || cursor?.text == text)
    }

    @Test func `a request for too little history is extended to the events that were not read`() throws {
        let seven = EventPosition(epoch: "e", number: 7)
        var world = try AgentWorld(cursor: AgentCursor(position: seven, time: .seconds(7000), published: seven))
        world.connect()
        let place = EventPosition(epoch: "e", number: 3)
        let actions = Self.ask(&world, DeviceCommand.replay(.init(after: place, since: .seconds(90_000))).bytes)
        #expect(actions.contains(.save(AgentCursor(position: place, time: .seconds(7000), published: place))))
    }

    @Test func `checks and reports are refused unless they are allowed, and are limited to one per 10 s`() throws {
        var world = try Self.world()
        for command in [DeviceCommand.check(target: "erp"), .report(outage: "1-a")] {
            let actions = Self.ask(&world, command.bytes)
            #expect(actions.answers.first?.problem?.hasPrefix("not allowed") == true)
            #expect(!actions.contains(.answer(command)))
        }
        var willing = try Self.world([.check, .report])
        #expect(Self.ask(&willing, DeviceCommand.check(target: "erp").bytes) == [.answer(.check(target: "erp"))])
        let soon = Self.ask(&willing, DeviceCommand.report(outage: "1-a").bytes)
        #expect(soon.answers.first?.problem?.hasPrefix("too many commands") == true)
    }

    @Test func `invalid commands are refused and excessive commands are ignored`() throws {
        var world = try Self.world([.check])
        let hostile = [
            "", "{}", #"{"schema":1,"command":"exec","target":"rm"}"#, #"{"schema":2,"command":"detail"}"#,
            #"{"schema":1,"command":"report","outage":"../../config"}"#, String(repeating: "[", count: 100_000),
            "\u{1b}[2J",
        ]
        for text in hostile {
            let actions = Self.ask(&world, Array(text.utf8))
            #expect(actions.messages.isEmpty && actions.count == 1)
            #expect(actions.lines.first?.hasPrefix("command refused: ") == true)
            #expect(actions.lines.first?.contains("\u{1b}") == false)
        }
        var heeded = 0
        var lines: [String] = []
        for _ in 0..<1000 {
            let actions = Self.ask(&world, DeviceCommand.detail.bytes)
            heeded += actions.contains(.answer(.detail)) ? 1 : 0
            lines += actions.lines
        }
        #expect(heeded == 3 && lines == ["too many commands; the rest is ignored"])
        // Messages on other topics are ignored.
        #expect(world.broker(.message(BrokerMessage(topic: "reach/v1/hq/other/cmd", payload: []))).isEmpty)
    }
}
