#if Fleet
import BrokerLab
import Foundation
import LinuxSupport
import MQTT
import NetworkLab
import ReachabilityFleet
import Testing

/// The hub tells of its incidents, with a real broker and machines that are played.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-mosquitto gets it"))
struct FleetNotifyTests {
    @Test("A site that falls and comes back is told once, and its end, also by a hub that was killed in between")
    func tellsOnce() async throws {
        let lab = try await FleetLab.start()
        // Its thread is started outside: it would take the namespace along, and stay there to run whatever comes.
        let server = try await lab.namespace.perform { try AnswerServer("200 OK", isAway: true) }
        try server.comeBack()
        let directory = lab.serve.directory
        try directory.write(
            "hook",
            "#!/bin/sh\necho $REACHABILITY_EVENT $REACHABILITY_SITE >>\(directory.file("told"))\n"
        )
        try directory.write(
            "hub.toml",
            """
            schema = 1
            [[notify]]
            name = "chat"
            webhook = "\(server.url)"
            after = "10s"
            [[notify]]
            name = "local"
            exec = "\(directory.file("hook"))"
            after = "10s"
            """,
            mode: 0o644
        )
        let first = try await HubLab.start(lab, ["--config", directory.file("hub.toml")])
        let site = PlayedSite(lab.hub, 5)
        defer { site.end() }
        site.come("a")
        try await first.until("/v1/devices") {
            $0.count == 5 && $0.allSatisfy { $0["standing"] as? String == "online" }
        }
        site.fall()
        let delivered = ["chat", "local"].map {
            "reachability_notifications_total{name=\"\($0)\",result=\"delivered\"} 1\n"
        }
        #expect(
            try await eventually {
                let metrics = try await first.text("/metrics")
                return delivered.allSatisfy { metrics.contains($0) }
            }
        )
        first.command.signal(SIGKILL)
        #expect(try await first.command.result().status == -SIGKILL)

        let second = try await HubLab.start(lab, ["--config", directory.file("hub.toml")])
        #expect(
            try await eventually { try await second.text("/readyz").contains("\"ready\":true") }
        )
        site.come("b")
        let over = try await second.until("/v1/incidents") { $0.first?["end"] is String }
        #expect(over.count == 1 && over[0]["attribution"] as? String == "upstream")
        let id = try #require(over.first?["id"] as? String)
        #expect(
            try await eventually {
                server.requests.contains { $0.contains("\r\nwebhook-id: \(id)-ended\r\n") }
                    && (try? String(contentsOfFile: directory.file("told"), encoding: .utf8).contains("ended")) == true
            }
        )
        #expect(try await second.end() == 0)
        let ids = server.requests.compactMap { $0.firstMatch(of: #/\r\nwebhook-id: (.*)\r\n/#).map { String($0.1) } }
        // On a slow machine it is somebody's fault for a while before it is over.
        #expect(ids.filter { !$0.contains("-refined-") } == ["\(id)-began", "\(id)-ended"])
        let lines = try String(contentsOfFile: directory.file("told"), encoding: .utf8).split(separator: "\n")
        #expect(lines.filter { !$0.hasPrefix("refined") } == ["began hq", "ended hq"])
        let began = try #require(server.requests.first)
        #expect(
            began.contains("\"deviceCount\":5") && began.contains("Silence at hq (unknown), 5 machines (d0, d1, d2")
        )
    }

    @Test("Who is to be told is read again, also where there was nobody")
    func readsAgain() async throws {
        let lab = try await FleetLab.start()
        let directory = lab.serve.directory
        let (file, told) = (directory.file("hub.toml"), directory.file("told"))
        try directory.write("hook", "#!/bin/sh\necho $REACHABILITY_EVENT $REACHABILITY_SITE >>\(told)\n")
        try directory.write("hub.toml", "schema = 1\n", mode: 0o644)
        let hub = try await HubLab.start(lab, ["--config", file])
        let notify = "[[notify]]\nname = \"local\"\nexec = \"\(directory.file("hook"))\"\nafter = \"1s\"\n"
        try directory.write("hub.toml", "schema = 1\n" + notify, mode: 0o644)
        hub.command.signal(SIGHUP)
        try await hub.command.untilErrors(contain: "reachability: \(file) is applied\n")
        let site = PlayedSite(lab.hub, 2)
        defer { site.end() }
        site.come("a")
        try await hub.until("/v1/devices") {
            $0.count == 2 && $0.allSatisfy { $0["standing"] as? String == "online" }
        }
        site.fall()
        #expect(
            try await eventually {
                (try? String(contentsOfFile: told, encoding: .utf8)) == "began hq\n"
            }
        )
        #expect(try await hub.end() == 0)
    }
}

/// Machines of one site, which say what agents do.
private final class PlayedSite: Sendable {
    private let peer: BrokerPeer
    private let devices: [String]
    private let session = Locked("")
    private let answering = Locked<Task<Void, Never>?>(nil)

    init(_ peer: BrokerPeer, _ count: Int) {
        (self.peer, devices) = (peer, (0..<count).map { "d\($0)" })
        let task = Task { [self] in
            while !Task.isCancelled, let message = try? await peer.message(within: .seconds(300)) { answer(message) }
        }
        answering.withLock { $0 = task }
    }

    /// They connect.
    func come(_ session: String) {
        self.session.withLock { $0 = session }
        for device in devices { arrive(device, isRetained: true) }
    }

    /// Their connections end without a word.
    func fall() {
        let state = DeviceState.will(session: session.withLock(\.self))
        for device in devices { say(state.bytes, device, "state", true) }
    }

    func end() { answering.withLock { $0?.cancel() } }

    private func answer(_ message: BrokerMessage) {
        guard case .device(let place, .command)? = FleetTopic(message.topic),
            case .replay(let replay)? = try? DeviceCommand(message.payload)
        else { return }
        arrive(place.device, isRetained: false, mark: replay.mark)
    }

    private func arrive(_ device: String, isRetained: Bool, mark: String? = nil) {
        let session = session.withLock(\.self)
        let now = SystemClock.real
        let report = DeviceState.Report(boot: "one", wall: now, bootTime: .seconds(1000), refresh: .seconds(900))
        say(DeviceState(session: session, standing: .online, report: report).bytes, device, "state", isRetained)
        let kinds = (mark.map { [DeviceEvent.Kind.replaying(mark: $0)] } ?? []) + [.caughtUp]
        for kind in kinds {
            say(DeviceEvent(session: session, position: nil, wall: now, kind: kind).bytes, device, "event", false)
        }
    }

    private func say(_ payload: [UInt8], _ device: String, _ kind: String, _ isRetained: Bool) {
        _ = peer.connection.publish(
            BrokerMessage(topic: "reach/v1/hq/\(device)/\(kind)", payload: payload, isRetained: isRetained)
        )
    }
}
#endif
