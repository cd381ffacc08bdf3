#if Fleet
import BrokerLab
import Foundation
import LinuxSupport
import MQTT
import NetworkLab
import ReachabilityFleet
import Testing

/// Notifications of the hub about incidents, with a real broker and simulated machines.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-servers gets it"))
struct FleetNotifyTests {
    @Test func `a reload adds notifiers, also if there were none`() async throws {
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
        try await waitUntil { (try? String(contentsOfFile: told, encoding: .utf8)) == "began hq\n" }
        let reload = ["fleet", "hub", "--reload", "--socket", directory.file("hub.sock")]
        #expect(try await Command.run(reload) == CommandResult(status: 0, output: "\(file) is applied\n", errors: ""))
        try directory.write("hub.toml", "schema = 1\n[[target]]\nname = \"x\"\n", mode: 0o644)
        hub.command.signal(SIGHUP)
        try await hub.command.untilErrors(contain: "\(file) is not applied; the previous configuration stays")
        #expect(try await Command.run(reload).status == 78)
        #expect(try await hub.end() == 0)
    }

    @Test func `a target that machines of several sites cannot reach is one incident and one notification`()
        async throws
    {
        let lab = try await FleetLab.start()
        let directory = lab.serve.directory
        let told = directory.file("told")
        let line = "$REACHABILITY_EVENT $REACHABILITY_TARGET $(echo $REACHABILITY_SITES)"
        try directory.write("hook", "#!/bin/sh\necho \"\(line)\" >>\(told)\n")
        let notify = "[[notify]]\nname = \"local\"\nexec = \"\(directory.file("hook"))\"\nafter = \"1s\"\n"
        try directory.write("hub.toml", "schema = 1\n" + notify, mode: 0o644)
        let hub = try await HubLab.start(lab, ["--config", directory.file("hub.toml")])
        let sites = PlayedSite(lab.hub, 1, at: ["east", "north", "south", "west"])
        defer { sites.end() }
        sites.come("a")
        try await hub.until("/v1/devices") {
            $0.count == 4 && $0.allSatisfy { $0["standing"] as? String == "online" }
        }
        sites.fail("erp", at: ["north", "south", "west"])
        try await waitUntil {
            (try? String(contentsOfFile: told, encoding: .utf8)) == "began erp north south west\n"
        }
        let incidents = try await hub.items("/v1/incidents")
        #expect(incidents.count == 1 && incidents.first?["siteTotal"] as? Int == 4)
        let socket = ["--socket", directory.file("hub.sock")]
        let list = try await Command.run(["fleet", "incidents", "--open"] + socket)
        #expect(list.output.contains(" erp is down from 3 of 4 sites (north, south, west): them.host for "), "\(list)")
        let south = try await Command.run(["fleet", "incidents", "--site", "south"] + socket)
        #expect(south.output.contains("erp is down from 3 of 4 sites"), "\(south)")
        #expect(try await Command.run(["fleet", "incidents", "--site", "east"] + socket).output.isEmpty)
        #expect(try await hub.end() == 0)
    }
}

/// Simulated machines of sites, which send the messages of agents.
private final class PlayedSite: Sendable {
    private let peer: BrokerPeer
    private let devices: [DeviceID]
    private let session = Locked("")
    private let answering = Locked<Task<Void, Never>?>(nil)

    /// - Parameter count: The number of machines of each site.
    init(_ peer: BrokerPeer, _ count: Int, at sites: [String] = ["hq"]) {
        self.peer = peer
        devices = sites.flatMap { site in (0..<count).compactMap { DeviceID(site: site, device: "d\($0)") } }
        let task = Task { [self] in
            while !Task.isCancelled, let message = try? await peer.message(within: .seconds(300)) { answer(message) }
        }
        answering.withLock { $0 = task }
    }

    /// Connects the machines.
    func come(_ session: String) {
        self.session.withLock { $0 = session }
        for device in devices { arrive(device, isRetained: true) }
    }

    /// Ends the connections of the machines without a message.
    func fall() {
        let state = DeviceState.will(session: session.withLock(\.self))
        for device in devices { say(state.bytes, device, "state", true) }
    }

    /// The machines of some sites report the failure of a target.
    func fail(_ target: String, at sites: [String]) {
        let (session, now) = (session.withLock(\.self), SystemClock.real)
        for device in devices where sites.contains(device.site) {
            let outage = DeviceOutage(id: "o", target: target, attribution: .them, cause: .host, start: now, end: nil)
            let position = EventPosition(epoch: "e", number: 1)
            let event = DeviceEvent(session: session, position: position, wall: now, kind: .outage(outage))
            say(event.bytes, device, "event", false)
        }
    }

    func end() { answering.withLock { $0?.cancel() } }

    private func answer(_ message: BrokerMessage) {
        guard case .device(let place, .command)? = FleetTopic(message.topic),
            case .replay(let replay)? = try? DeviceCommand(message.payload)
        else { return }
        arrive(place, isRetained: false, mark: replay.mark)
    }

    private func arrive(_ device: DeviceID, isRetained: Bool, mark: String? = nil) {
        let session = session.withLock(\.self)
        let now = SystemClock.real
        let report = DeviceState.Report(boot: "one", wall: now, bootTime: .seconds(1000), refresh: .seconds(900))
        say(DeviceState(session: session, standing: .online, report: report).bytes, device, "state", isRetained)
        let kinds = (mark.map { [DeviceEvent.Kind.replaying(mark: $0)] } ?? []) + [.caughtUp]
        for kind in kinds {
            say(DeviceEvent(session: session, position: nil, wall: now, kind: kind).bytes, device, "event", false)
        }
    }

    private func say(_ payload: [UInt8], _ device: DeviceID, _ kind: String, _ isRetained: Bool) {
        _ = peer.connection.publish(
            BrokerMessage(topic: "reach/v1/\(device)/\(kind)", payload: payload, isRetained: isRetained)
        )
    }
}
#endif
