import LinuxSupport
import NIOSSL
import NetworkLab
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge
import WebLab

/// Certificates are public, so an attacker can present another server's. Without the private key the handshake fails.
@Suite struct KeylessTests {
    @Test(arguments: [2, 3], [true, false])
    func `a server without the private key is refused although its certificates are valid`(
        version: Int,
        isRSA: Bool
    ) async throws {
        let leaf = isRSA ? Blueprint.leaf().with(\.key, .rsa2048[2]).signed(by: World.intermediate) : World.leaf
        let signer = KeylessSigner(signatureAlgorithms: isRSA ? [.rsaPssRsaeSha256] : [.ecdsaSecp256R1Sha256])
        let server = try ScriptedServer.greeting(
            with: .server(
                sent: [leaf.der, World.intermediate.der],
                key: NIOSSLPrivateKey(customPrivateKey: signer),
                versions: version...version
            )
        )
        let evaluator = WatchedEvaluator()
        let factory = try TrustClient.factory(TrustCase("") { $0.evaluator = evaluator })
        let outcome = try await TrustClient.connect(factory, host: World.host, port: server.port)
        #expect(evaluator.hasPassed)
        #expect(throws: (any Error).self) { try outcome.handshake.get() }
        #expect(throws: (any Error).self) { try outcome.written.get() }
        #expect(outcome.greeting == nil)
        #expect(server.visits.allSatisfy { !$0.isSecure && $0.received.isEmpty })
        server.stop()
    }

    @Test(.enabled(if: Program.hasOpenSSL, "openssl is not installed"), arguments: ["AES128-GCM-SHA256", "AES256-SHA"])
    func `key exchange with RSA is refused`(suite: String) async throws {
        let leaf = Blueprint.leaf().with(\.key, .rsa2048[2]).signed(by: World.intermediate)
        let server = try await OpenSSLServer([leaf, World.intermediate], ["-tls1_2", "-cipher", suite])
        let factory = try TrustClient.factory(TrustCase("") { _ in })
        let outcome = try await TrustClient.connect(factory, host: World.host, port: server.port)
        #expect(throws: NIOSSLError.self) { try outcome.handshake.get() }
    }
}

/// An evaluator that behaves like `DefaultTrustEvaluator` and records whether it has accepted a chain.
private final class WatchedEvaluator: ServerTrustEvaluating {
    private let passed = Locked(false)
    var hasPassed: Bool { passed.withLock { $0 } }

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        try DefaultTrustEvaluator().evaluate(trust, forHost: host)
        passed.withLock { $0 = true }
    }
}
