#if Fleet
import BrokerLab
import LinuxSupport
import MQTT
import NetworkLab
import Testing

/// Mutual TLS, and the errors of invalid certificates.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-servers gets it"))
struct BrokerTLSTests {
    /// Returns the error of a connection that is refused.
    private static func refusal(_ options: BrokerOptions) async throws -> BrokerError {
        let peer = try await BrokerPeer.begin(MosquittoBroker(), options)
        return try #require(try await peer.ended())
    }

    @Test func `with mutual TLS a device can publish only under its own name`() async throws {
        let broker = try await BrokerWorld.start()
        let peer = try await BrokerPeer.begin(MosquittoBroker(), BrokerWorld.options(broker))
        _ = try await peer.connected()
        let own = peer.connection.publish(BrokerMessage(topic: "reach/v1/hq/door-7/state", payload: []))
        #expect(try await !peer.published(own).isRefusal)
        let other = peer.connection.publish(BrokerMessage(topic: "reach/v1/hq/door-8/state", payload: []))
        #expect(try await peer.published(other) == .notAuthorized)
        peer.connection.close()
        #expect(try await peer.ended() == nil)
    }

    @Test func `a broker with an expired or untrusted certificate is refused`() async throws {
        let expired = try await BrokerWorld.start(showing: { BrokerWorld.broker($0, isExpired: true) })
        let strange = try await BrokerWorld.start(showing: { BrokerWorld.broker($0, by: BrokerWorld.stranger) })
        for broker in [expired, strange] {
            let error = try await Self.refusal(BrokerWorld.options(broker))
            #expect(error.cause == .untrusted("certificate verify failed"))
            #expect(error.description.contains("run `reachability trust \(broker.address.host):8883` for"))
        }
    }

    @Test func `a broker whose certificate is for another name is refused`() async throws {
        let broker = try await BrokerWorld.start(showing: { _ in BrokerWorld.broker("192.0.2.1") })
        let error = try await Self.refusal(BrokerWorld.options(broker))
        #expect(error.cause == .wrongName)
        #expect(error.description.hasSuffix("for another name; connect with a name in the certificate"))
    }

    @Test func `a client without a certificate, or with an expired or untrusted one, is refused`() async throws {
        let broker = try await BrokerWorld.start()
        var options = BrokerWorld.options(broker)
        (options.tls.certificate, options.tls.key) = (nil, nil)
        let devices = [
            BrokerWorld.device("door-7", isExpired: true), BrokerWorld.device("door-7", by: BrokerWorld.stranger),
        ]
        var errors = [try await Self.refusal(options)]
        for device in devices {
            let broker = try await BrokerWorld.start(device: device)
            errors.append(try await Self.refusal(BrokerWorld.options(broker)))
        }
        for error in errors {
            guard case .handshake = error.cause else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.description.contains("check that it uses TLS and trusts --certificate"))
        }
    }

    @Test func `a missing key file and a key of another certificate are reported`() async throws {
        let broker = try await BrokerWorld.start()
        var missing = BrokerWorld.options(broker)
        missing.tls.key = "/nowhere/key"
        #expect(try await Self.refusal(missing).cause == .unusableFiles("/nowhere/key: No such file or directory"))
        var other = BrokerWorld.options(broker)
        other.tls.key = "\(broker.directory)/broker.key"
        guard case .unusableFiles = try await Self.refusal(other).cause else {
            Issue.record("a key of another certificate is taken")
            return
        }
    }

    @Test func `a broker without TLS fails the handshake`() async throws {
        let broker = try await LabBroker()
        var options = BrokerOptions(address: broker.address, client: "one")
        options.address = BrokerAddress(host: broker.address.host, port: broker.address.port, isSecured: true)
        guard case .handshake = try await Self.refusal(options).cause else {
            Issue.record("a broker without TLS is taken for one with it")
            return
        }
    }
}
#endif
