#if Fleet
import BrokerLab
import Foundation
import LinuxSupport
import MQTT
import NetworkLab
import ReachabilityFleet
import Testing

/// A service, an agent, a broker and a subscriber to all topics, in one namespace.
final class FleetLab: Sendable {
    let serve: ServeLab
    let broker: LabBroker
    let hub: BrokerPeer
    var namespace: LabNamespace { serve.uplink.namespace }
    var state: String { serve.directory.file("agent") }

    init(_ serve: ServeLab, _ broker: LabBroker, _ hub: BrokerPeer) {
        (self.serve, self.broker, self.hub) = (serve, broker, hub)
    }

    /// - Parameter settings: Additional lines of the mosquitto configuration.
    static func start(_ kind: BrokerKind = .mosquitto, _ settings: [String] = []) async throws -> FleetLab {
        let serve = try await ServeLab.start()
        let lines = ["allow_anonymous true"] + settings
        let broker = try await LabBroker(lines, in: serve.uplink.namespace, kind: kind)
        return FleetLab(serve, broker, try await hub(of: broker, in: serve.uplink.namespace))
    }

    /// Connects like a hub: it subscribes to all topics, and messages wait for it while it is disconnected.
    static func hub(
        of broker: LabBroker,
        in namespace: LabNamespace,
        as client: String = "hub"
    ) async throws -> BrokerPeer {
        var options = BrokerOptions(address: broker.address, client: client)
        options.sessionExpiry = .seconds(3600)
        options.version = broker.kind.version
        let hub = try await BrokerPeer.begin(MosquittoBroker(), options, in: namespace)
        _ = try await hub.connected()
        try await hub.subscribe("reach/v1/#")
        return hub
    }

    func hub() async throws -> BrokerPeer { try await Self.hub(of: broker, in: namespace) }

    func agent(_ more: [String] = []) async throws -> RunningCommand {
        try await RunningCommand.start(
            [
                "fleet", "agent", "--broker", broker.address.description, "--site", "hq", "--device", "door",
                "--socket", serve.socket, "--state", state, "--jitter", "10ms",
            ] + more,
            in: namespace
        )
    }

    /// Takes the network down and up, and waits until the service has seen each change.
    func outage() async throws {
        let count = try await serve.outages().count
        try await serve.uplink.setConnected(false)
        try await untilService { $0.count == count + 1 }
        try await serve.uplink.setConnected(true)
        try await untilService { $0.count == count + 1 && $0.allSatisfy { $0.end != nil } }
    }

    private func untilService(_ condition: ([ServedOutage]) -> Bool) async throws {
        let isSo = try await eventually(every: .milliseconds(10)) {
            condition(try await serve.outages())
        }
        guard isSo else { throw LabError("the service does not report the expected state") }
    }

    /// The ids of the ended outages according to the service.
    func outages() async throws -> Set<String> { Set(try await serve.outages().filter { $0.end != nil }.map(\.id)) }
}

extension BrokerPeer {
    /// Returns the next message of the machine on a topic.
    func word<Value>(
        _ kind: String,
        _ read: ([UInt8]) throws -> Value,
        where condition: (Value) -> Bool = { _ in true }
    ) async throws -> Value {
        while true {
            let message = try await message()
            guard message.topic == "reach/v1/hq/door/\(kind)" else { continue }
            let value = try read(message.payload)
            if condition(value) { return value }
        }
    }

    func state(_ standing: DeviceState.Standing) async throws -> DeviceState {
        try await word("state", { try DeviceState($0) }) { $0.standing == standing }
    }

    func event(where condition: (DeviceEvent) -> Bool) async throws -> DeviceEvent {
        try await word("event", { try DeviceEvent($0) }, where: condition)
    }

    /// Returns the ended outages in all events until the agent has caught up.
    func outagesUntilCaughtUp() async throws -> [DeviceOutage] {
        var found: [DeviceOutage] = []
        while true {
            let event = try await event { _ in true }
            switch event.kind {
            case .caughtUp: return found
            case .outage(let outage): if outage.end != nil { found.append(outage) }
            case .resumed, .replaying: break
            }
        }
    }
}
#endif
