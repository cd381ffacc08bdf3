import NIOCore
import NIOSSL
import NetworkLab
import ServerTrust
import ServerTrustNIO
import TrustForge
import WebLab
import X509

/// Client certificates. They are valid at the time of this machine, because other programs verify them.
enum ClientWorld {
    static let root = Blueprint.authority("Client Root").current.signed()
    static let intermediate = Blueprint.authority("Client Intermediate").current.signed(by: root)
    static let client = blueprint("client").signed(by: intermediate)
    static let rsaClient = blueprint("RSA client").with(\.key, .rsa2048[0]).signed(by: intermediate)
    static let strangeRoot = Blueprint.authority("Strange Client Root").current.signed()
    static let stranger = blueprint("stranger").signed(by: strangeRoot)

    private static func blueprint(_ name: String) -> Blueprint {
        var blueprint = Blueprint(name: name).current
        blueprint.usage = KeyUsage(digitalSignature: true)
        blueprint.purposes = [.clientAuth]
        return blueprint
    }

    static func identity(_ chain: Forged...) throws -> TLSClientIdentity {
        try TLSClientIdentity(
            certificatePEM: Array(PEM.text(chain.map(\.der)).utf8),
            keyPEM: Array(chain[0].key.key.serializeAsPEM().pemString.utf8)
        )
    }
}

/// A private key with invalid signatures, for a server that does not have the key of its certificate.
struct KeylessSigner: NIOSSLCustomPrivateKey, Hashable {
    let signatureAlgorithms: [SignatureAlgorithm]

    func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeSucceededFuture(ByteBuffer(repeating: 0x5a, count: 71))
    }

    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeSucceededFuture(ByteBuffer(repeating: 0x5a, count: 256))
    }
}

extension ScriptedServer {
    /// A TLS server that sends `hello` after the handshake.
    static func greeting(
        _ chain: Forged...,
        versions: ClosedRange<Int> = 2...3,
        protocols: [String] = [],
        clientAnchors: [Forged] = []
    ) throws -> ScriptedServer {
        try greeting(with: .server(chain, versions: versions, protocols: protocols, clientAnchors: clientAnchors))
    }

    static func greeting(with context: NIOSSLContext) throws -> ScriptedServer {
        try .perConnection(coder: TLSCoder.layer(context)) { connection in
            connection.send("hello")
            connection.waitForEnd()
        }
    }
}
