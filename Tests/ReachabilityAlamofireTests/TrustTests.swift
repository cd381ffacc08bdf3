import AsyncHTTPClient
import FoundationEssentials
import LinuxSupport
import NetworkLab
import ReachabilityAlamofire
import ReachabilityHTTP
import Testing
import TrustForge
import WebLab

/// Sessions with evaluators of servers, against servers with TLS.
@Suite(.timeLimit(.minutes(15))) struct TrustTests {
    private static let names = ["127.0.0.1", "a.example.org", "b.example.org"]
    private let anchors = TrustAnchors([WebAuthority.root.certificate])

    private func server(
        _ identity: WebIdentity = .good(for: "127.0.0.1", "a.example.org", "b.example.org"),
        redirect: String? = nil
    ) throws -> ScriptedServer {
        try ScriptedServer(coder: TLSCoder.layer(try identity.context())) { _ in
            redirect.map { .redirect(302, to: $0) } ?? .status(200, body: Array("secret".utf8))
        }
    }

    /// A client that resolves the names of the tests to the loopback address.
    private func client() -> RetryingHTTPClient {
        var configuration = HTTPClient.Configuration()
        for name in Self.names.dropFirst() { configuration.dnsOverride[name] = "127.0.0.1" }
        return RetryingHTTPClient(configuration: configuration)
    }

    private func session(_ client: RetryingHTTPClient, _ manager: ServerTrustManager) -> Session {
        // The names exist only in the configuration of the client.
        Session(client: client, serverTrustManager: manager).overriding { $0.options.host = "127.0.0.1" }
    }

    private func manager(
        _ evaluators: [String: any ServerTrustEvaluating],
        allHostsMustBeEvaluated: Bool = true
    ) -> ServerTrustManager {
        ServerTrustManager(
            allHostsMustBeEvaluated: allHostsMustBeEvaluated,
            evaluators: evaluators,
            anchors: anchors
        )
    }

    /// The text of the answer, or the reason why the server is not trusted.
    private func outcome(
        _ evaluators: [String: any ServerTrustEvaluating],
        _ identity: WebIdentity = .good(for: "127.0.0.1", "a.example.org", "b.example.org"),
        host: String = "127.0.0.1",
        allHostsMustBeEvaluated: Bool = true
    ) async throws -> String {
        let (server, client) = (try server(identity), client())
        defer { server.stop() }
        let manager = manager(evaluators, allHostsMustBeEvaluated: allHostsMustBeEvaluated)
        let response = await session(client, manager).request("https://\(host):\(server.port)/").serializingString()
            .response
        try await client.shutdown()
        #expect(server.requests.isEmpty == (response.value == nil))
        return Self.text(response)
    }

    private static func text(_ response: AFDataResponse<String>) -> String {
        guard let error = response.error else { return response.value ?? "none" }
        guard case .serverTrustEvaluationFailed(let reason) = error else { return "\(error)" }
        #expect(error.isServerTrustEvaluationError && !"\(error)".isEmpty)
        return switch reason {
        case .noRequiredEvaluator(let host): "no evaluator for \(host)"
        case .noCertificatesFound: "no certificates"
        case .noPublicKeysFound: "no keys"
        case .certificatePinningFailed(let host, let chain): "certificate of \(host), \(chain.count)"
        case .publicKeyPinningFailed(let host, let keys): "key of \(host), \(keys.count)"
        case .customEvaluationFailed: "custom: \(error.underlyingError is ServerTrustError)"
        case .trustEvaluationFailed: "trust: \(error.underlyingError is ServerTrustError)"
        }
    }

    @Test func `only a pinned certificate or key is trusted`() async throws {
        let identity = WebIdentity.good(for: "127.0.0.1")
        let (own, other) = (identity.chain[0].certificate, WebIdentity.wrongName().chain[0].certificate)
        let host = "127.0.0.1"
        let evaluators: [(any ServerTrustEvaluating, String)] = [
            (PinnedCertificatesTrustEvaluator(certificates: [own]), "secret"),
            (PinnedCertificatesTrustEvaluator(certificates: [other]), "certificate of 127.0.0.1, 2"),
            (PublicKeysTrustEvaluator(keys: [own.publicKey]), "secret"),
            (PublicKeysTrustEvaluator(keys: [WebAuthority.stranger.certificate.publicKey]), "key of 127.0.0.1, 2"),
            (PinnedCertificatesTrustEvaluator(certificates: []), "no certificates"),
            (PublicKeysTrustEvaluator(keys: []), "no keys"),
            (.composite(evaluators: [.publicKeys(keys: [own.publicKey]), DefaultTrustEvaluator()]), "secret"),
            (.composite(evaluators: [DefaultTrustEvaluator(), .publicKeys(keys: [])]), "no keys"),
        ]
        for (evaluator, expected) in evaluators {
            #expect(try await outcome([host: evaluator], identity) == expected)
        }
    }

    @Test func `chain, host and revocation are evaluated`() async throws {
        let host = "127.0.0.1"
        let evaluator = DefaultTrustEvaluator()
        #expect(try await outcome([host: evaluator]) == "secret")
        for identity in [
            WebIdentity.expired(for: host), .wrongName(), .otherAuthority(for: host), .selfSigned(for: host),
        ] {
            #expect(try await outcome([host: evaluator], identity) == "trust: true")
            #expect(try await outcome([host: DisabledTrustEvaluator()], identity) == "secret")
        }
        #expect(try await outcome([host: DefaultTrustEvaluator(validateHost: false)], .wrongName()) == "secret")
        #expect(try await outcome([host: .revocationChecking]) == "secret")
        let strict = RevocationTrustEvaluator(options: [.requirePositiveResponse])
        #expect(try await outcome([host: strict]) == "trust: true")
        let custom = ServerTrustPolicy.customEvaluation { _, _ in false }.evaluator
        #expect(try await outcome([host: custom]) == "custom: true")
    }

    @Test func `the evaluator of the most specific host pattern decides`() async throws {
        let evaluators: [String: any ServerTrustEvaluating] = [
            "*.example.org": DefaultTrustEvaluator(), "b.example.org": PublicKeysTrustEvaluator(keys: []),
        ]
        #expect(try await outcome(evaluators, host: "a.example.org") == "secret")
        #expect(try await outcome(evaluators, host: "b.example.org") == "no keys")
        #expect(try await outcome(evaluators) == "no evaluator for 127.0.0.1")
        #expect(try await outcome(evaluators, allHostsMustBeEvaluated: false) == "secret")
        let stranger = WebIdentity.otherAuthority(for: "127.0.0.1")
        #expect(try await outcome(evaluators, stranger, allHostsMustBeEvaluated: false) == "trust: true")
    }

    @Test func `the server of a redirect is evaluated for its own host`() async throws {
        let other = try server()
        let first = try server(redirect: "https://b.example.org:\(other.port)/")
        let plain = try ScriptedServer(replies: [.redirect(302, to: "https://b.example.org:\(other.port)/")])
        let client = client()
        defer { for server in [other, first, plain] { server.stop() } }
        let refused = session(
            client,
            manager(["a.example.org": DefaultTrustEvaluator(), "b.example.org": PublicKeysTrustEvaluator(keys: [])])
        )
        let urls = ["https://a.example.org:\(first.port)/", plain.url()]
        for url in urls { #expect(Self.text(await refused.request(url).serializingString().response) == "no keys") }
        #expect(first.requests.count == 1 && plain.requests.count == 1 && other.requests.isEmpty)
        let trusted = session(client, manager(["*.example.org": DefaultTrustEvaluator()]))
        for url in urls { #expect(try await trusted.request(url).serializingString().value == "secret") }
        try await client.shutdown()
    }

    @Test func `a connection is evaluated once, and is not shared with another session`() async throws {
        let (server, client) = (try server(), client())
        defer { server.stop() }
        let url = "https://127.0.0.1:\(server.port)/"
        let trusted = session(client, manager(["127.0.0.1": DefaultTrustEvaluator()]))
        for _ in 0..<3 { #expect(try await trusted.request(url).serializingString().value == "secret") }
        // The second connection has fetched the chain.
        #expect(server.connections == 2)
        let refused = session(client, manager(["127.0.0.1": PublicKeysTrustEvaluator(keys: [])]))
        #expect(Self.text(await refused.request(url).serializingString().response) == "no keys")
        #expect(try await trusted.request(url).serializingString().value == "secret")
        #expect(server.requests.count == 4)
        try await client.shutdown()
    }

    @Test func `the connections of a session are closed when it is released`() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let context = try WebIdentity.good(for: "127.0.0.1").context()
        let server = try ScriptedServer.perConnection(coder: TLSCoder.layer(context)) { connection in
            while connection.nextRequest() != nil, connection.perform(.status(200)) {}
            end.yield()
        }
        defer { server.stop() }
        func exchange() async -> AFError? {
            let session = Session(serverTrustManager: manager(["127.0.0.1": DefaultTrustEvaluator()]))
            let request = session.request("https://127.0.0.1:\(server.port)/")
            return await request.serializingData(emptyResponseCodes: [200]).response.error
        }
        #expect(await exchange() == nil)
        var iterator = ends.makeAsyncIterator()
        // The connection that fetches the chain, and the connection of the request.
        for _ in 0..<2 { await iterator.next() }
    }

    @Test func `policies of Alamofire 4 and AFNetworking evaluate servers`() async throws {
        let identity = WebIdentity.good(for: "127.0.0.1")
        let (root, stranger) = (WebAuthority.root.certificate, WebAuthority.stranger.certificate)
        let server = try server(identity)
        defer { server.stop() }
        func text(_ session: Session) async -> String {
            while true {
                let response = await session.request("https://127.0.0.1:\(server.port)/").serializingString().response
                // On a busy machine a handshake may exceed the session's time limit of 10 s.
                let isTimeout = (response.error?.underlyingError as? URLError)?.code == .timedOut
                if !isTimeout { return Self.text(response) }
            }
        }
        func text(_ policy: ServerTrustPolicy, host: String = "127.0.0.1") async -> String {
            let session = SessionManager(serverTrustPolicyManager: ServerTrustPolicyManager(policies: [host: policy]))
            return await text(session)
        }
        func expect(_ policy: ServerTrustPolicy, _ wanted: String, line: Int = #line) async {
            let text = await text(policy)
            #expect(text == wanted, "line \(line)")
        }
        func pinned(_ certificate: TrustCertificate) -> ServerTrustPolicy {
            .pinCertificates(certificates: [certificate], validateCertificateChain: true, validateHost: true)
        }
        func pinned(_ key: ServerPublicKey) -> ServerTrustPolicy {
            .pinPublicKeys(publicKeys: [key], validateCertificateChain: false, validateHost: true)
        }
        await expect(pinned(root), "secret")
        await expect(pinned(stranger), "trust: true")
        await expect(pinned(identity.chain[0].certificate.publicKey), "secret")
        #expect(await text(pinned(stranger.publicKey)).hasPrefix("key of"))
        await expect(.disableEvaluation, "secret")
        #expect(
            await text(.customEvaluation { trust, host in host == "127.0.0.1" && !trust.certificates.isEmpty })
                == "secret"
        )
        // The system does not trust the authority.
        await expect(.performDefaultEvaluation(validateHost: true), "trust: true")
        await expect(.performRevokedEvaluation(validateHost: true, revocationFlags: .any), "trust: true")
        #expect(await text(.disableEvaluation, host: "example.org") == "trust: true")

        let folder = ScratchDirectory()
        try folder.write("root.cer", WebAuthority.root.der)
        var policy = AFSecurityPolicy(
            pinningMode: .certificate,
            withPinnedCertificates: AFSecurityPolicy.certificates(in: folder.path)
        )
        policy.allowInvalidCertificates = true
        #expect(await text(Session(securityPolicy: policy)) == "secret")
        policy.pinnedCertificates = [stranger]
        #expect(await text(Session(securityPolicy: policy)) == "trust: true")
        #expect(await text(Session(securityPolicy: .default())) == "trust: true")
    }

    @Test func `an adapter that is set after the creation of a session applies to later requests`() async throws {
        let server = try ScriptedServer { request in .status(200, body: Array((request.fields["later"] ?? "-").utf8)) }
        defer { server.stop() }
        let session = SessionManager(configuration: .ephemeral)
        #expect(try await session.request(server.url()).serializingString().value == "-")
        session.adapter = Adapter { request, _, completion in
            var request = request
            request.headers.add(name: "Later", value: "1")
            completion(.success(request))
        }
        #expect(try await session.request(server.url()).serializingString().value == "1")
        #expect(session.adapter is Adapter && session.retrier == nil)
        session.adapter = nil
        #expect(try await session.request(server.url()).serializingString().value == "-")
    }
}
