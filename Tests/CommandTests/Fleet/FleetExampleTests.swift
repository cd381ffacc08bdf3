#if Fleet
import BrokerLab
import Foundation
import LinuxSupport
import MQTT
import NetworkLab
import ReachabilityFleet
import ReachabilityFleetAgent
import ServerTrust
import Testing

/// The files of `examples/fleet`, used as in docs/fleet.md.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-servers gets it"))
struct FleetExampleTests {
    private static let folder = Checkout.path("examples/fleet")

    /// Returns the TLS files of a machine or of the hub.
    private static func tls(_ name: String, in directory: String) -> BrokerOptions.TLS {
        .init(
            authority: "\(directory)/authority.pem",
            certificate: "\(directory)/\(name).pem",
            key: "\(directory)/\(name).key"
        )
    }

    @Test func `an agent with a certificate reports to the hub and cannot impersonate another machine`() async throws {
        let directory = ScratchDirectory()
        let place = directory.file("fleet")
        let host = LabBroker.freeHost()
        let made = try await LabThread.detached {
            try LabProcess(Self.folder + "/make-certificates", [place, host, "door-7", "hub", "homeassistant"]).wait()
        }
        #expect(made.status == 0 && made.errors.isEmpty)
        try directory.write("fleet/acl", try String(contentsOfFile: Self.folder + "/acl", encoding: .utf8))
        let lines = try String(contentsOfFile: Self.folder + "/mosquitto.conf", encoding: .utf8)
            .replacing("/etc/mosquitto/fleet", with: place)
            .replacing("keyfile \(place)/broker.pem", with: "keyfile \(place)/broker.key")
            .split(separator: "\n").map(String.init)
        // The test sets the address and the storage. There is no revocation list here.
        let settings = lines.filter { line in
            !["listener", "per_listener_settings", "persistence", "autosave", "crlfile"].contains { line.hasPrefix($0) }
        }
        let broker = try await LabBroker(settings, isSecured: true, at: host)

        var options = BrokerOptions(address: broker.address, client: "hub")
        options.tls = Self.tls("hub", in: place)
        let hub = try await BrokerPeer.begin(MosquittoBroker(), options)
        _ = try await hub.connected()
        try await hub.subscribe("reach/v1/#")

        options = BrokerOptions(address: broker.address, client: "homeassistant")
        options.tls = Self.tls("homeassistant", in: place)
        let home = try await BrokerPeer.begin(MosquittoBroker(), options)
        _ = try await home.connected()
        for filter in ["homeassistant/+/+/+/config", "reach/v1/+/+/state"] { try await home.subscribe(filter) }

        // A machine that claims to be the hub gets a separate session, and the hub keeps its own.
        var disguise = BrokerOptions(address: broker.address, client: "hub")
        disguise.tls = Self.tls("door-7", in: place)
        let stranger = try await BrokerPeer.begin(MosquittoBroker(), disguise)
        _ = try await stranger.connected()
        try await stranger.subscribe("reach/v1/+/door-7/cmd")
        hub.connection.publish(BrokerMessage(topic: "reach/v1/hq/door-7/cmd", payload: Array("x".utf8)))
        #expect(try await stranger.message().payload == Array("x".utf8))
        #expect(try await hub.message().topic == "reach/v1/hq/door-7/cmd")
        stranger.connection.close()

        func agent(_ device: String) async throws -> RunningCommand {
            let tls = Self.tls("door-7", in: place)
            return try await RunningCommand.start([
                "fleet", "agent", "--broker", broker.address.description, "--site", "hq", "--device", device, "--state",
                "none", "--socket", "/nowhere", "--jitter", "10ms", "--authority", tls.authority ?? "", "--certificate",
                tls.certificate ?? "", "--key", tls.key ?? "", "--home-assistant",
            ])
        }
        let good = try await agent("door-7")
        let birth = try await hub.message()
        #expect(birth.topic == "reach/v1/hq/door-7/state")
        #expect(try DeviceState(birth.payload).standing == .online)
        let heard = [try await home.message().topic, try await home.message().topic]
        #expect(Set(heard) == ["reach/v1/hq/door-7/state", "homeassistant/device/hq/door-7/config"])
        hub.connection.publish(
            BrokerMessage(topic: "reach/v1/hq/door-7/cmd", payload: DeviceCommand.report(outage: "a").bytes)
        )
        while true {
            let message = try await hub.message()
            guard message.topic == "reach/v1/hq/door-7/detail" else { continue }
            #expect(try DeviceAnswer(message.payload).problem?.contains("--allow report") == true)
            break
        }
        let result = try await good.result(after: SIGTERM)
        #expect(result.status == 0 && !result.errors.contains("others on the network"))

        let other = try await agent("door-8")
        try await other.untilErrors(contain: "refuses messages to reach/v1/hq/door-8/state: not authorized")
        #expect(try await other.result(after: SIGTERM).status == 0)
    }

    @Test func `an agent that is stopped while it connects ends cleanly`() async throws {
        try await withStrangers { address, ours, theirs in
            for delay in 0..<24 {
                let agent = try await Self.agent(at: address, trusting: theirs, as: ours)
                try await agent.untilErrors(contain: "certificate verify failed")
                // The agent retries meanwhile, each time after a longer delay.
                try await Task.sleep(for: .milliseconds(2 * delay))
                let result = try await agent.result(after: SIGTERM)
                #expect(result.status == 0, "\(result)")
            }
        }
    }

    private static func agent(
        at address: String,
        trusting authority: String,
        as own: String
    ) async throws -> RunningCommand {
        try await RunningCommand.start([
            "fleet", "agent", "--broker", address, "--site", "hq", "--device", "door-7", "--state", "none",
            "--socket", "/nowhere", "--jitter", "10ms", "--authority", "\(authority)/authority.pem",
            "--certificate", "\(own)/door-7.pem", "--key", "\(own)/door-7.key",
        ])
    }

    /// Provides a broker, the directory of its authority, and that of another authority.
    private func withStrangers(_ body: (String, String, String) async throws -> Void) async throws {
        let directory = ScratchDirectory()
        let (ours, theirs) = (directory.file("ours"), directory.file("theirs"))
        let host = LabBroker.freeHost()
        for place in [ours, theirs] {
            _ = try await LabThread.detached {
                try LabProcess(Self.folder + "/make-certificates", [place, host, "door-7"]).wait()
            }
        }
        let broker = try await LabBroker(
            ["cafile \(ours)/authority.pem", "certfile \(ours)/broker.pem", "keyfile \(ours)/broker.key"]
                + ["require_certificate true", "use_identity_as_username true", "allow_anonymous false"],
            isSecured: true,
            at: host
        )
        try await body(broker.address.description, ours, theirs)
        withExtendedLifetime((broker, directory)) {}
    }
}

/// Machines, a hub and a broker with certificates of `fleet ca`, and the revocation of certificates.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-servers gets it"))
struct FleetRevocationTests {
    private let lab: FleetAuthorityLab
    private let host: String

    init() async throws {
        lab = try await FleetAuthorityLab.start()
        host = LabBroker.freeHost()
        try await lab.enroll("broker", ["--server", host])
        try await lab.enroll("hub", ["--hub"])
    }

    /// Starts a broker with the example's `mosquitto.conf`, except for its address and its storage.
    private func broker() async throws -> LabBroker {
        let folder = FleetAuthorityLab.examples
        try lab.directory.write("acl", try String(contentsOfFile: folder + "/acl", encoding: .utf8), mode: 0o644)
        let settings = try String(contentsOfFile: folder + "/mosquitto.conf", encoding: .utf8)
            .replacing("/etc/mosquitto/fleet/authority.pem", with: lab.certificate)
            .replacing("/etc/mosquitto/fleet/revoked.pem", with: lab.list)
            .replacing("/etc/mosquitto/fleet/broker.pem", with: lab.pair("broker"))
            .replacing("/etc/mosquitto/fleet/acl", with: lab.directory.file("acl"))
            .split(separator: "\n").map(String.init).filter { line in
                !["listener", "per_listener_settings", "persistence", "autosave"].contains { line.hasPrefix($0) }
            }
        return try await LabBroker(settings, isSecured: true, at: host)
    }

    private func hub(of broker: LabBroker) async throws -> BrokerPeer {
        var options = BrokerOptions(address: broker.address, client: "hub")
        options.tls = .init(authority: lab.certificate, certificate: lab.pair("hub"), key: lab.pair("hub"))
        let hub = try await BrokerPeer.begin(MosquittoBroker(), options)
        _ = try await hub.connected()
        try await hub.subscribe("reach/v1/#")
        return hub
    }

    private func agent(
        _ device: String,
        of broker: LabBroker,
        _ more: [String] = []
    ) async throws -> RunningCommand {
        try await RunningCommand.start(
            [
                "fleet", "agent", "--broker", broker.address.description, "--site", "hq", "--device", device,
                "--state", "none", "--socket", "/nowhere", "--jitter", "10ms", "--will-delay", "0s",
                "--authority", lab.certificate, "--certificate", lab.pair(device),
            ] + more
        )
    }

    /// Waits until a machine reports that it is online.
    private func birth(of device: String, at hub: BrokerPeer) async throws {
        while true {
            let message = try await hub.message()
            guard message.topic == "reach/v1/hq/\(device)/state" else { continue }
            if try DeviceState(message.payload).standing == .online { return }
        }
    }

    @Test func `a revoked machine is rejected after a restart of the broker, and the others are accepted`() async throws
    {
        try await lab.enroll("door-7")
        try await lab.enroll("door-8")
        let broker = try await self.broker()
        let first = try await hub(of: broker)
        let lost = try await agent("door-7", of: broker)
        try await birth(of: "door-7", at: first)
        let good = try await agent("door-8", of: broker)
        try await birth(of: "door-8", at: first)

        #expect(try await lab.fleet("ca", "revoke", lab.authority, "door-7").status == 0)
        try await broker.end(SIGTERM)
        try await broker.start()
        let second = try await hub(of: broker)
        try await birth(of: "door-8", at: second)
        try await lost.untilErrors(contain: "cannot use TLS with ")
        for agent in [lost, good] {
            #expect(try await agent.result(after: SIGTERM).status == 0)
        }
        // With another certificate the machine is accepted again.
        OwnFile.remove(lab.pair("door-7"))
        try await lab.enroll("door-7")
        let found = try await agent("door-7", of: broker)
        try await birth(of: "door-7", at: second)
        #expect(try await found.result(after: SIGTERM).status == 0)
    }
}
#endif
