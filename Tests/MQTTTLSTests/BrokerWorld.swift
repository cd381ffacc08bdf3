#if Fleet
import BrokerLab
import MQTT
import ServerTrust
import SwiftASN1
import TrustForge
import X509

/// The certificates of a broker with mutual TLS, valid now.
enum BrokerWorld {
    private static let begins = TrustTime.now.advanced(by: .seconds(-86_400))
    private static let ends = TrustTime.now.advanced(by: .seconds(30 * 86_400))
    private static let past = TrustTime.now.advanced(by: .seconds(-3600))

    static let root = authority("Fleet")
    static let stranger = authority("Stranger")

    private static func authority(_ name: String) -> Forged {
        Blueprint.authority(name).with(\.begins, begins).with(\.ends, ends).signed()
    }

    /// Returns a broker's certificate for an IPv4 address.
    static func broker(_ host: String, by issuer: Forged = root, isExpired: Bool = false) -> Forged {
        let bytes = host.split(separator: ".").compactMap { UInt8($0) }
        let name = GeneralName.ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        return Blueprint.leaf(host, names: [name]).with(\.begins, begins).with(\.ends, isExpired ? past : ends)
            .signed(by: issuer)
    }

    static func device(_ name: String, by issuer: Forged = root, isExpired: Bool = false) -> Forged {
        Blueprint.leaf(name, names: []).with(\.purposes, [.clientAuth]).with(\.begins, begins)
            .with(\.ends, isExpired ? past : ends).signed(by: issuer)
    }

    /// Starts a broker with mutual TLS that shows `certificate`. Its directory also contains the files of the client
    /// certificate `device`.
    static func start(
        showing certificate: (String) -> Forged = { broker($0) },
        device: Forged = device("door-7")
    ) async throws -> LabBroker {
        let host = LabBroker.freeHost()
        let shown = certificate(host)
        let settings = [
            "cafile @/root.pem", "certfile @/broker.pem", "keyfile @/broker.key", "require_certificate true",
            "use_identity_as_username true", "allow_anonymous false", "acl_file @/acl",
        ]
        let files = [
            "root.pem": PEM.text([root.der]), "stranger.pem": PEM.text([stranger.der]),
            "broker.pem": PEM.text([shown.der]), "broker.key": try shown.key.key.serializeAsPEM().pemString,
            "device.pem": PEM.text([device.der]), "device.key": try device.key.key.serializeAsPEM().pemString,
            "acl": "pattern readwrite reach/v1/+/%u/#\n",
        ]
        return try await LabBroker(settings, files: files.mapValues { Array($0.utf8) }, isSecured: true, at: host)
    }

    static func options(_ broker: LabBroker, authority: String = "root.pem") -> BrokerOptions {
        var options = BrokerOptions(address: broker.address, client: "door-7")
        options.tls = .init(
            authority: "\(broker.directory)/\(authority)",
            certificate: "\(broker.directory)/device.pem",
            key: "\(broker.directory)/device.key"
        )
        return options
    }
}
#endif
