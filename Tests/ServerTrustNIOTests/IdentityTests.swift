import NIOSSL
import NetworkLab
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge
import WebLab

/// Client certificates: valid and invalid files, and their use in handshakes.
@Suite struct IdentityTests {
    private let directory = ScratchDirectory()
    private let certificate: String
    private let key: String

    init() throws {
        certificate = try directory.write("client.pem", [ClientWorld.client, ClientWorld.intermediate])
        key = try directory.write("client.key", ClientWorld.client.key)
    }

    private func connect(
        _ identity: TLSClientIdentity?,
        versions: ClosedRange<Int> = 2...3
    ) async throws -> (TrustClient.Outcome, ScriptedServer.Visit?) {
        let server = try ScriptedServer.greeting(
            World.leaf,
            World.intermediate,
            versions: versions,
            clientAnchors: [ClientWorld.root]
        )
        let factory = try TrustClient.factory(TrustCase("") { _ in }) { settings, _ in settings.identity = identity }
        let outcome = try await TrustClient.connect(factory, host: World.host, port: server.port)
        server.stop()
        return (outcome, server.visits.first)
    }

    @Test(arguments: [2...2, 3...3])
    func `a client certificate is accepted by the server`(versions: ClosedRange<Int>) async throws {
        let identity = try TLSClientIdentity(certificateFile: certificate, keyFile: key)
        #expect(identity.certificateChain.count == 2)
        let (outcome, visit) = try await connect(identity, versions: versions)
        #expect(outcome.verdict == .trusted)
        #expect(outcome.greeting == "hello")
        #expect(visit?.isSecure == true)
    }

    /// With TLS 1.3 the client completes its handshake before the server verifies the client certificate.
    @Test(arguments: [2...2, 3...3], [true, false])
    func `a missing or unknown client certificate is refused by the server`(
        versions: ClosedRange<Int>,
        hasIdentity: Bool
    ) async throws {
        let identity = hasIdentity ? try ClientWorld.identity(ClientWorld.stranger) : nil
        let (outcome, visit) = try await connect(identity, versions: versions)
        #expect(outcome.greeting == nil)
        #expect(visit?.isSecure == false)
        #expect((outcome.verdict == .trusted) == (versions == 3...3), "\(outcome)")
        #expect(!outcome.errors.isEmpty)
    }

    @Test func `a server that is not trusted receives no client certificate`() async throws {
        let server = try ScriptedServer.greeting(World.strangeLeaf, clientAnchors: [ClientWorld.root])
        let factory = try TrustClient.factory(TrustCase("") { _ in }) { settings, _ in
            settings.identity = try? ClientWorld.identity(ClientWorld.client, ClientWorld.intermediate)
        }
        let outcome = try await TrustClient.connect(factory, host: World.host, port: server.port)
        guard case .refused = outcome.verdict else { Issue.record("\(outcome)"); return }
        #expect(server.visits.map(\.isSecure) == [false])
        server.stop()
    }

    @Test func `certificate and key can be in one file`() throws {
        let both = try directory.write("both.pem", directory.text("client.key") + directory.text("client.pem"))
        #expect(try TLSClientIdentity(certificateFile: both, keyFile: both).certificateChain.count == 2)
    }

    @Test func `RSA, P-384 and Ed25519 keys are supported`() throws {
        _ = try ClientWorld.identity(ClientWorld.rsaClient)
        let p384 = Blueprint(name: "P-384").with(\.key, .p384("P-384")).current.signed()
        _ = try ClientWorld.identity(p384)
        let ed25519 = Blueprint(name: "Ed25519").with(\.key, .ed25519("Ed25519")).current.signed()
        _ = try ClientWorld.identity(ed25519)
    }

    private func expect(_ error: TLSIdentityError, certificate: String? = nil, key: String? = nil) {
        #expect(throws: error) {
            try TLSClientIdentity(certificateFile: certificate ?? self.certificate, keyFile: key ?? self.key)
        }
    }

    @Test(arguments: [ClientWorld.stranger, ClientWorld.rsaClient])
    func `a key of another certificate is refused`(client: Forged) throws {
        let other = try directory.write("other.key", client.key)
        let error = TLSIdentityError.keyMismatch(certificateFile: certificate, keyFile: other)
        expect(error, key: other)
        #expect(error.description.contains(other))
    }

    @Test func `a missing file is an error`() {
        let missing = "\(directory.path)/missing"
        expect(.unreadable(file: missing, cause: "No such file or directory"), certificate: missing)
        expect(.unreadable(file: directory.path, cause: "Is a directory"), key: directory.path)
    }

    @Test(arguments: ["", " \n\t\r\n"])
    func `an empty file is an error`(text: String) throws {
        let empty = try directory.write("empty", text)
        expect(.empty(file: empty), certificate: empty)
        expect(.empty(file: empty), key: empty)
    }

    @Test(arguments: [
        "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "-----BEGIN CERTIFICATE-----\n",
        "\0\u{1}\u{2}",
    ])
    func `a file without a certificate or key is an error`(text: String) throws {
        let garbage = try directory.write("garbage", text)
        expect(.noCertificate(file: garbage), certificate: garbage)
        expect(.noKey(file: garbage), key: garbage)
    }

    @Test func `a chain with a damaged certificate is refused`() throws {
        let text = directory.text("client.pem") + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let damaged = try directory.write("damaged.pem", text)
        expect(.noCertificate(file: damaged), certificate: damaged)
    }

    @Test func `swapped certificate and key files are an error`() {
        expect(.noCertificate(file: key), certificate: key, key: certificate)
        expect(.noKey(file: certificate), key: certificate)
    }

    /// The formats are PKCS #8 and the older format of `openssl ec`.
    @Test(
        .enabled(if: Program.hasOpenSSL, "openssl is not installed"),
        arguments: [["pkcs8", "-topk8", "-v2", "aes-256-cbc"], ["ec", "-aes128"]]
    )
    func `an encrypted key requires its passphrase`(command: [String]) throws {
        let encrypted = "\(directory.path)/encrypted.key"
        let result = try LabProcess(
            "openssl",
            command + ["-in", key, "-out", encrypted, "-passout", "pass:open sesame"]
        ).wait()
        try #require(result.status == 0, "\(result.errors)")
        func identity(_ passphrase: String?) throws -> TLSClientIdentity {
            try TLSClientIdentity(
                certificateFile: certificate,
                keyFile: encrypted,
                passphrase: passphrase.map { Array($0.utf8) }
            )
        }
        #expect(try identity("open sesame").privateKey == ClientWorld.identity(ClientWorld.client).privateKey)
        #expect(throws: TLSIdentityError.passphraseMissing(file: encrypted)) { try identity(nil) }
        #expect(throws: TLSIdentityError.unsupportedPassphrase(file: encrypted)) { try identity("Öffne dich") }
        for wrong in ["open sesam", "", String(repeating: "open", count: 1000)] {
            #expect(throws: TLSIdentityError.wrongPassphrase(file: encrypted)) { try identity(wrong) }
        }
    }

    @Test func `a passphrase for an unencrypted key is ignored`() throws {
        _ = try TLSClientIdentity(certificateFile: certificate, keyFile: key, passphrase: Array("unused".utf8))
    }
}
