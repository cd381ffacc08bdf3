import ReachabilityFleet
import ReachabilityLedger
import TestSupport
import Testing

/// The messages between machines, broker and hub, including invalid ones.
@Suite struct MessageTests {
    static let event = DeviceEvent(
        session: "s1",
        position: EventPosition(epoch: "dn2w", number: 7),
        wall: machineWall(60),
        kind: .outage(outage("o\"\u{1b}1", from: 10, to: 50))
    )

    @Test func `a topic can be written and read`() throws {
        let place = try place("pump-1")
        for kind in FleetTopic.Kind.allCases {
            let topic = FleetTopic.device(place, kind)
            #expect(FleetTopic(topic.description) == topic)
        }
        #expect(FleetTopic.device(place, .command).description == "reach/v1/north/pump-1/cmd")
        #expect(FleetTopic("reach/v1/$hub/state") == .hub)
        #expect(FleetTopic.filter(.state) == "reach/v1/+/+/state")
    }

    @Test(arguments: [
        "", "reach/v1", "reach/v2/a/b/state", "reach/v1/a/b/will", "reach/v1/a/b/state/", "reach/v1/+/b/state",
        "reach/v1/$hub/b/state", "reach/v1//b/state", "reach/v1/a/../state", "reach/v1/a/b c/state",
        "reach/v1/a/\(String(repeating: "b", count: 65))/state",
    ])
    func `any other topic is invalid`(text: String) { #expect(FleetTopic(text) == nil) }

    @Test func `a state can be written and read`() throws {
        var own = report(3600)
        own.acknowledged = EventPosition(epoch: "dn2w", number: 1040)
        own.path = "reachable"
        own.reason = "going \u{202e} home"
        for standing in [DeviceState.Standing.online, .sleeping, .leaving] {
            let state = DeviceState(session: "s1", standing: standing, report: own)
            #expect(try DeviceState(state.bytes) == state)
        }
        let will = DeviceState.will(session: "s1")
        #expect(try DeviceState(will.bytes) == will)
        #expect(String(decoding: will.bytes, as: UTF8.self) == #"{"schema":1,"session":"s1","state":"offline"}"#)
    }

    @Test func `an event can be written and read`() throws {
        let kinds: [DeviceEvent.Kind] = [
            Self.event.kind, .outage(outage(from: 3, to: nil)), .resumed(.seconds(90)), .caughtUp,
            .replaying(mark: "m"),
        ]
        for kind in kinds {
            for position in [Self.event.position, nil] {
                let event = DeviceEvent(session: "s1", position: position, wall: machineWall(60), kind: kind)
                #expect(try DeviceEvent(event.bytes) == event)
            }
        }
    }

    @Test func `the four commands can be written and read`() throws {
        let commands: [DeviceCommand] = [
            .detail, .replay(.init(after: EventPosition(epoch: "a", number: 3))), .check(target: "erp"),
            .report(outage: "x-1"),
        ]
        for command in commands { #expect(try DeviceCommand(command.bytes) == command) }
        for text in [
            #"{"schema":1,"command":"reboot"}"#, #"{"schema":1}"#, #"{"schema":1,"command":"replay-from","after":"a"}"#,
            #"{"schema":1,"command":"report","outage":"../status"}"#, #"{"schema":1,"command":"report","outage":""}"#,
            #"{"schema":1,"command":"check"}"#, #"{"schema":1,"command":["detail"]}"#,
        ] {
            #expect(throws: PayloadError.self, "\(text)") { try DeviceCommand(Array(text.utf8)) }
        }
    }

    @Test func `the state of the hub can be written and read`() throws {
        let state = HubState(session: "h1", isOnline: true)
        #expect(try HubState(state.bytes) == state)
    }

    @Test(arguments: [
        ("", "not a JSON object"), ("[]", "not a JSON object"), ("{}", #""schema" is not 1"#),
        (#"{"schema":2}"#, #""schema" is not 1"#), (#"{"schema":1}"#, #""session" is missing"#),
        (#"{"schema":1,"session":7}"#, #""session" is not a string"#),
        (#"{"schema":1,"session":"s","state":"up"}"#, #""state" has an unknown value"#),
        (#"{"schema":1,"session":"s","state":"online","refresh":86401}"#, #""refresh" is out of range"#),
        (#"{"schema":1,"session":"s","state":"online","refresh":-1}"#, #""refresh" is out of range"#),
        (#"{"schema":1,"session":"s","state":"online","refresh":1.5}"#, #""refresh" is out of range"#),
    ])
    func `an invalid state is refused with a reason`(text: String, complaint: String) {
        do {
            _ = try DeviceState(Array(text.utf8))
            Issue.record("\(text) was taken")
        } catch { #expect(error.description == complaint) }
    }

    @Test func `messages and strings that are too long are refused`() {
        let long = String(repeating: "x", count: 65)
        #expect(throws: PayloadError.self) { try DeviceState(DeviceState.will(session: long).bytes) }
        let filler = String(repeating: " ", count: 16 << 10)
        #expect(throws: PayloadError.self) {
            try DeviceState(DeviceState.will(session: "s").bytes + Array(filler.utf8))
        }
    }

    @Test func `an outage that ends before it begins is refused`() {
        let event = DeviceEvent(
            session: "s",
            position: nil,
            wall: .zero,
            kind: .outage(outage(from: 50, to: 10))
        )
        #expect(throws: PayloadError.self) { try DeviceEvent(event.bytes) }
    }

    @Test(arguments: ["1969-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-10:00", "yesterday"])
    func `a time outside 1970 to 9999 is refused`(time: String) {
        let outage = #"{"id":"o","target":"t","attribution":"us","cause":null,"start":"\#(time)","end":null}"#
        let text = #"{"schema":1,"session":"s","wall":1,"event":"outage","outage":\#(outage)}"#
        #expect(throws: PayloadError.self) { try DeviceEvent(Array(text.utf8)) }
    }

    @Test func `damaged messages never crash the parser and accepted ones can be written again`() {
        var chance = SeededGenerator(seed: 20)
        let good = [
            Self.event.bytes, online("s1", 90).bytes, DeviceState.will(session: "s1").bytes,
            DeviceCommand.detail.bytes, DeviceCommand.check(target: "erp").bytes,
            DeviceCommand.replay(.init(after: EventPosition(epoch: "a", number: 3))).bytes,
            HubState(session: "h1", isOnline: false).bytes,
        ]
        for _ in 0..<MutationCount.value / 5 {
            for bytes in good.map({ DamagedBytes.make(from: $0, using: &chance) }) {
                if let state = try? DeviceState(bytes) { #expect((try? DeviceState(state.bytes)) == state) }
                if let event = try? DeviceEvent(bytes) { #expect((try? DeviceEvent(event.bytes)) == event) }
                if let command = try? DeviceCommand(bytes) { #expect((try? DeviceCommand(command.bytes)) == command) }
                if let hub = try? HubState(bytes) { #expect((try? HubState(hub.bytes)) == hub) }
            }
        }
    }
}
