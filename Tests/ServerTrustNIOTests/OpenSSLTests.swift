import NIOSSL
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge
import WebLab
import X509

/// The same verdicts where the server is `openssl s_server`.
@Suite(.enabled(if: Program.hasOpenSSL, "openssl is not installed"))
struct OpenSSLTests {
    private func outcome(
        _ chain: Forged...,
        options: [String] = [],
        isKeyless: Bool = false,
        clientAnchors: [Forged]? = nil,
        identity: TLSClientIdentity? = nil,
        protocols: [String] = [],
        change: (inout TrustCase) -> Void = { _ in }
    ) async throws -> TrustClient.Outcome {
        let server = try await OpenSSLServer(chain, options, isKeyless: isKeyless, clientAnchors: clientAnchors)
        let factory = try TrustClient.factory(TrustCase("", change)) { settings, _ in
            settings.identity = identity
            settings.applicationProtocols = protocols
        }
        return try await TrustClient.connect(factory, host: World.host, port: server.port)
    }

    private func expectTrusted(_ outcome: TrustClient.Outcome) {
        #expect(outcome.verdict == .trusted, "\(outcome)")
        #expect(outcome.greeting?.hasPrefix("HTTP/1.0 200") == true)
    }

    @Test func good() async throws {
        expectTrusted(try await outcome(World.leaf, World.intermediate))
    }

    /// The certificate is good and the manager says so, but whoever shows it has another key.
    @Test(arguments: ["-tls1_2", "-tls1_3"]) func keyless(version: String) async throws {
        let outcome = try await outcome(World.leaf, World.intermediate, options: [version], isKeyless: true)
        #expect(outcome.verdict != .trusted, "\(outcome)")
        #expect(outcome.greeting == nil)
    }

    @Test func rsa() async throws {
        let anchor = World.rsaRoot
        expectTrusted(try await outcome(World.rsaLeaf, World.rsaIntermediate) { $0.trust(anchor) })
    }

    @Test func expired() async throws {
        let ends = World.now.advanced(by: .seconds(-1))
        let outcome = try await outcome(World.leaf { $0.ends = ends }, World.intermediate)
        #expect(outcome.verdict == .refused(.expired(subject: World.host, notAfter: ends)))
        #expect(outcome.greeting == nil)
    }

    @Test func wrongHost() async throws {
        let outcome = try await outcome(World.leaf(names: [.dnsName("example.com")]), World.intermediate)
        #expect(outcome.verdict == .refused(.hostMismatch(names: ["example.com"])))
    }

    @Test func selfSigned() async throws {
        let own = Blueprint.leaf().signed()
        #expect(try await outcome(own).verdict == .refused(.selfSigned(subject: World.host)))
        expectTrusted(
            try await outcome(own) {
                $0.evaluator = PinnedCertificatesTrustEvaluator(
                    certificates: [own.certificate],
                    acceptSelfSignedCertificates: true
                )
            }
        )
    }

    @Test func missingIntermediate() async throws {
        let verdict = try await outcome(World.leaf).verdict
        #expect(
            verdict == .refused(.unknownIssuer(subject: World.host, issuer: "CN=Intermediate,O=Forge")),
            "\(String(describing: verdict))"
        )
    }

    @Test func pinned() async throws {
        expectTrusted(
            try await outcome(World.leaf, World.intermediate) {
                $0.evaluator = PublicKeysTrustEvaluator(keys: [World.intermediate.certificate.publicKey])
            }
        )
        let refused = try await outcome(World.leaf, World.intermediate) {
            $0.evaluator = PublicKeysTrustEvaluator(keys: [World.strangeRoot.certificate.publicKey])
        }
        #expect(refused.verdict == .refused(.notPinned(subject: World.host)))
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func clientCertificateDemanded(version: String) async throws {
        let identity = try ClientWorld.identity(ClientWorld.client, ClientWorld.intermediate)
        let anchors = [ClientWorld.root]
        expectTrusted(
            try await outcome(
                World.leaf,
                World.intermediate,
                options: [version],
                clientAnchors: anchors,
                identity: identity
            )
        )
        for other in [nil, try ClientWorld.identity(ClientWorld.stranger)] {
            let refused = try await outcome(
                World.leaf,
                World.intermediate,
                options: [version],
                clientAnchors: anchors,
                identity: other
            )
            #expect(refused.greeting == nil)
            #expect(!refused.errors.isEmpty)
        }
    }

    @Test func onlyTLS11() async throws {
        let outcome = try await outcome(
            World.leaf,
            World.intermediate,
            options: ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"]
        )
        #expect(outcome.otherError is NIOSSLError, "\(outcome)")
        #expect(outcome.greeting == nil)
    }

    @Test(arguments: [("-tls1_2", TLSVersion.tlsv12), ("-tls1_3", .tlsv13)])
    func onlyOneVersion(option: String, version: TLSVersion) async throws {
        let outcome = try await outcome(World.leaf, World.intermediate, options: [option])
        expectTrusted(outcome)
        #expect(try outcome.handshake.get().version == version)
    }

    @Test func applicationProtocol() async throws {
        let outcome = try await outcome(
            World.leaf,
            World.intermediate,
            options: ["-alpn", "http/1.1"],
            protocols: ["h2", "http/1.1"]
        )
        #expect(try outcome.handshake.get().applicationProtocol == "http/1.1")
    }

    /// The TLS library itself ends handshakes with keys that may not sign, whoever would trust them.
    @Test func aKeyThatIsNotForSignatures() async throws {
        let leaf = World.leaf { $0.usage = KeyUsage(keyAgreement: true) }
        let outcome = try await outcome(leaf, World.intermediate) { $0.evaluator = DisabledTrustEvaluator() }
        #expect(outcome.otherError is NIOSSLError, "\(outcome)")
    }
}
