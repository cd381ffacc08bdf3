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

/// Machines, a hub and a broker with certificates of `fleet ca`, and what a broker does with who is revoked.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-mosquitto gets it"))
struct FleetRevocationTests {
    private let lab: FleetAuthorityLab
    private let host: String

    init() async throws {
        lab = try await FleetAuthorityLab.start()
        host = LabBroker.freeHost()
        try await lab.enroll("broker", ["--server", host])
        try await lab.enroll("hub", ["--hub"])
    }

    /// With `mosquitto.conf` of the examples, but for where it listens and what it keeps.
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

    /// Waits until a machine says that it is there.
    private func birth(of device: String, at hub: BrokerPeer) async throws {
        while true {
            let message = try await hub.message()
            guard message.topic == "reach/v1/hq/\(device)/state" else { continue }
            if try DeviceState(message.payload).standing == .online { return }
        }
    }

    @Test func `a machine that is revoked is refused when the broker starts again, and no other is`() async throws {
        try await lab.enroll("door-7")
        try await lab.enroll("door-8")
        let broker = try await self.broker()
        let first = try await hub(of: broker)
        let lost = try await agent("door-7", of: broker)
        try await birth(of: "door-7", at: first)
        let good = try await agent("door-8", of: broker)
        try await birth(of: "door-8", at: first)

        let revoked = try await lab.fleet("ca", "revoke", lab.authority, "door-7")
        #expect(revoked.status == 0)
        try await broker.end(SIGTERM)
        try await broker.start()
        let second = try await hub(of: broker)
        try await birth(of: "door-8", at: second)
        try await lost.untilErrors(contain: "refuses TLS: ")
        for agent in [lost, good] {
            agent.signal(SIGTERM)
            #expect(try await agent.result().status == 0)
        }
        // With another certificate it is let in again.
        OwnFile.remove(lab.pair("door-7"))
        try await lab.enroll("door-7")
        let found = try await agent("door-7", of: broker)
        try await birth(of: "door-7", at: second)
        found.signal(SIGTERM)
        #expect(try await found.result().status == 0)
    }

    @Test func `the access control list silences a machine that is connected`() async throws {
        try await lab.enroll("door-7")
        let broker = try await self.broker()
        let hub = try await self.hub(of: broker)
        let agent = try await self.agent("door-7", of: broker, ["--refresh", "1s"])
        try await birth(of: "door-7", at: hub)
        let acl = try String(contentsOfFile: lab.directory.file("acl"), encoding: .utf8)
        try lab.directory.write("acl", acl + "\nuser door-7\ntopic deny #\n", mode: 0o644)
        broker.signal(SIGHUP)
        try await agent.untilErrors(contain: "refuses what is published to reach/v1/hq/door-7/state: not authorized")
        agent.signal(SIGTERM)
        #expect(try await agent.result().status == 0)
    }

    @Test func `an expired certificate is refused, and the agent says before that it is to be renewed`() async throws {
        let place = lab.place("door-7")
        let enrollment = try Enrollment(directory: place, name: "door-7")
        /// A certificate of that age.
        func enroll(days: Int64) throws {
            let past = TrustTime.now.advanced(by: .seconds(-86_400 * days))
            try enrollment.request(force: true)
            let authority = try AuthorityDirectory(lab.authority)
            let request = try CertificateRequest(file: enrollment.requestFile)
            let certificate = try authority.sign(request, for: .device, validity: .seconds(86_400 * 90), now: past)
            try certificate.write(to: lab.directory.file("answer.pem"))
            _ = try enrollment.install(lab.directory.file("answer.pem"), authority: lab.certificate, now: past)
        }
        let broker = try await self.broker()
        let hub = try await self.hub(of: broker)
        try enroll(days: 61)
        let due = try await agent("door-7", of: broker)
        try await birth(of: "door-7", at: hub)
        try await due.untilErrors(contain: "renew it with `reachability fleet enroll --renew`")
        due.signal(SIGTERM)
        #expect(try await due.result().status == 0)
        try enroll(days: 91)
        let late = try await agent("door-7", of: broker)
        try await late.untilErrors(contain: "refuses TLS: ")
        try await late.untilErrors(contain: "expired since ")
        late.signal(SIGTERM)
        #expect(try await late.result().status == 0)
    }

    @Test func `a machine with its certificate cannot pretend to be the broker`() async throws {
        try await lab.enroll("door-7")
        let broker = try await LabBroker(
            ["certfile \(lab.pair("door-7"))", "keyfile \(lab.pair("door-7"))", "allow_anonymous true"],
            isSecured: true,
            at: host
        )
        let agent = try await self.agent("door-7", of: broker)
        try await agent.untilErrors(contain: "cannot trust the broker")
        agent.signal(SIGTERM)
        #expect(try await agent.result().status == 0)
    }
}
#endif
