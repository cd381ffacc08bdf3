import NIOSSL
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge
import WebLab
import X509

/// The same verdicts with independent servers: `openssl s_server` and nginx.
@Suite struct ServerProgramTests {
    enum Kind: CaseIterable {
        case openSSL, nginx

        /// The programs that are installed; Scripts/fetch-servers installs nginx.
        static let installed = allCases.filter { $0 == .openSSL ? Program.hasOpenSSL : Program.hasNginx }

        /// The options of a server with only this version of TLS.
        func only(_ version: String) -> [String] {
            let isOld = version == "1.1"
            switch self {
            case .openSSL:
                return ["-tls" + version.replacing(".", with: "_")] + (isOld ? ["-cipher", "DEFAULT@SECLEVEL=0"] : [])
            case .nginx:
                return ["ssl_protocols TLSv\(version);"] + (isOld ? ["ssl_ciphers DEFAULT@SECLEVEL=0;"] : [])
            }
        }
    }

    private func outcome(
        _ kind: Kind,
        _ chain: [Forged] = [World.leaf, World.intermediate],
        options: [String] = [],
        clientAnchors: [Forged]? = nil,
        identity: TLSClientIdentity? = nil,
        protocols: [String] = [],
        change: (inout TrustCase) -> Void = { _ in }
    ) async throws -> TrustClient.Outcome {
        let factory = try TrustClient.factory(TrustCase("", change)) { settings, _ in
            settings.identity = identity
            settings.applicationProtocols = protocols
        }
        switch kind {
        case .openSSL:
            let server = try await OpenSSLServer(chain, options, clientAnchors: clientAnchors)
            return try await TrustClient.connect(factory, host: World.host, port: server.port)
        case .nginx:
            let options = options + (clientAnchors == nil ? [] : ["ssl_verify_depth 3;"])
            let server = try await NginxServer(chain, options, clientAnchors: clientAnchors)
            return try await TrustClient.connect(factory, host: World.host, port: server.port)
        }
    }

    /// Returns whether the server answered with HTTP status 200.
    private func isAnswered(_ outcome: TrustClient.Outcome) -> Bool {
        outcome.verdict == .trusted && outcome.greeting?.prefix(12).hasSuffix(" 200") == true
    }

    private static let ends = World.now.advanced(by: .seconds(-1))
    private static let own = Blueprint.leaf().signed()

    private static let trustedServers: [(chain: [Forged], anchor: Forged, evaluator: any ServerTrustEvaluating)] = [
        ([World.leaf, World.intermediate], World.root, DefaultTrustEvaluator()),
        ([World.rsaLeaf, World.rsaIntermediate], World.rsaRoot, DefaultTrustEvaluator()),
        (
            [own], World.root,
            PinnedCertificatesTrustEvaluator(certificates: [own.certificate], acceptSelfSignedCertificates: true)
        ),
        (
            [World.leaf, World.intermediate], World.root,
            PublicKeysTrustEvaluator(keys: [World.intermediate.certificate.publicKey])
        ),
    ]

    @Test(arguments: Kind.installed, trustedServers.indices)
    func `a valid server is trusted and answers`(kind: Kind, index: Int) async throws {
        let (chain, anchor, evaluator) = Self.trustedServers[index]
        let outcome = try await outcome(kind, chain) {
            $0.trust(anchor)
            $0.evaluator = evaluator
        }
        #expect(isAnswered(outcome), "\(outcome)")
    }

    private static let refusedServers: [(chain: [Forged], reason: TrustFailure)] = [
        ([World.leaf { $0.ends = ends }, World.intermediate], .expired(subject: World.host, notAfter: ends)),
        (
            [World.leaf(names: [.dnsName("example.com")]), World.intermediate],
            .hostMismatch(names: ["example.com"])
        ),
        ([own], .selfSigned(subject: World.host)),
        ([World.leaf], .unknownIssuer(subject: World.host, issuer: "CN=Intermediate,O=Forge")),
    ]

    @Test(arguments: Kind.installed, refusedServers.indices)
    func `an invalid server is refused with its reason`(kind: Kind, index: Int) async throws {
        let (chain, reason) = Self.refusedServers[index]
        let outcome = try await outcome(kind, chain)
        #expect(outcome.verdict == .refused(reason), "\(outcome)")
        #expect(outcome.greeting == nil)
    }

    @Test(arguments: Kind.installed, [("1.2", TLSVersion.tlsv12), ("1.3", .tlsv13)])
    func `a server with only TLS 1.2 or 1.3 is trusted`(kind: Kind, version: (String, TLSVersion)) async throws {
        let outcome = try await outcome(kind, options: kind.only(version.0))
        #expect(isAnswered(outcome), "\(outcome)")
        #expect(try outcome.handshake.get().version == version.1)
    }

    @Test(arguments: Kind.installed)
    func `a server with only TLS 1.1 is an error`(kind: Kind) async throws {
        let outcome = try await outcome(kind, options: kind.only("1.1"))
        #expect(outcome.otherError is NIOSSLError, "\(outcome)")
        #expect(outcome.greeting == nil)
    }

    /// OpenSSL ends the handshake without a good client certificate. nginx reports the error with HTTP status 400.
    @Test(arguments: Kind.installed, ["1.2", "1.3"])
    func `a server accepts only a valid client certificate`(kind: Kind, version: String) async throws {
        func outcome(_ identity: TLSClientIdentity?) async throws -> TrustClient.Outcome {
            try await self.outcome(
                kind,
                options: kind.only(version),
                clientAnchors: [ClientWorld.root],
                identity: identity
            )
        }
        let good = try await outcome(ClientWorld.identity(ClientWorld.client, ClientWorld.intermediate))
        #expect(isAnswered(good), "\(good)")
        for identity in [nil, try ClientWorld.identity(ClientWorld.stranger)] {
            let refused = try await outcome(identity)
            #expect(refused.greeting?.prefix(12) == (kind == .openSSL ? nil : "HTTP/1.1 400"), "\(refused)")
        }
    }

    @Test(.enabled(if: Program.hasOpenSSL, "openssl is not installed"))
    func `openssl negotiates an application protocol`() async throws {
        let outcome = try await outcome(.openSSL, options: ["-alpn", "http/1.1"], protocols: ["h2", "http/1.1"])
        #expect(try outcome.handshake.get().applicationProtocol == "http/1.1")
    }

    /// The TLS library itself ends handshakes with keys that may not sign, regardless of the evaluator.
    @Test(.enabled(if: Program.hasOpenSSL, "openssl is not installed"))
    func `a key that may not sign ends the handshake`() async throws {
        let leaf = World.leaf { $0.usage = KeyUsage(keyAgreement: true) }
        let outcome = try await outcome(.openSSL, [leaf, World.intermediate]) {
            $0.evaluator = DisabledTrustEvaluator()
        }
        #expect(outcome.otherError is NIOSSLError, "\(outcome)")
    }
}
