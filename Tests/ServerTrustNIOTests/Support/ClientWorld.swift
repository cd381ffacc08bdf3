import ServerTrust
import ServerTrustNIO
import TrustForge
import X509

/// Certificates of clients, in their time by the clock of this machine: other programs judge them.
enum ClientWorld {
    static let root = dated(.authority("Client Root")).signed()
    static let intermediate = dated(.authority("Client Intermediate")).signed(by: root)
    static let client = dated(blueprint("client")).signed(by: intermediate)
    static let rsaClient = dated(blueprint("RSA client").with(\.key, .rsa2048[0])).signed(by: intermediate)
    static let strangeRoot = dated(.authority("Strange Client Root")).signed()
    static let stranger = dated(blueprint("stranger")).signed(by: strangeRoot)

    /// One for all: what is forged twice is the same.
    private static let now = TrustTime.now

    private static func blueprint(_ name: String) -> Blueprint {
        var blueprint = Blueprint(name: name)
        blueprint.usage = KeyUsage(digitalSignature: true)
        blueprint.purposes = [.clientAuth]
        return blueprint
    }

    static func dated(_ blueprint: Blueprint) -> Blueprint {
        blueprint.with(\.begins, now.advanced(by: .seconds(-86_400)))
            .with(\.ends, now.advanced(by: .seconds(864_000)))
    }

    static func identity(_ chain: Forged...) throws -> TLSClientIdentity {
        try TLSClientIdentity(
            certificatePEM: Array(PEM.text(chain.map(\.der)).utf8),
            keyPEM: Array(chain[0].key.key.serializeAsPEM().pemString.utf8)
        )
    }
}
