import AsyncHTTPClient
import LinuxSupport
import NIOCore
import NIOSSL
import NetworkLab
import ServerTrust
import ServerTrustAsyncHTTPClient
import SwiftASN1
import Testing
import TrustForge
import WebLab
import X509

/// The evaluation of connections: its time, number and host.
@Suite(.timeLimit(.minutes(15))) struct ConnectionTests {
    private let chain = [Forge.leaf, Forge.intermediate]

    @Test(arguments: [true, false], [true, false])
    func `each connection is evaluated once, and a chain is fetched once`(isHTTP2: Bool, isKept: Bool) async throws {
        let server = try await TrustServer(chain)
        let evaluator = PlayedEvaluator()
        var client = TrustClient(isHTTP2: isHTTP2)
        client.evaluate(evaluator)
        if !isKept { client.configuration.maximumUsesPerConnection = 1 }
        let outcomes = try await client.get(server.url(), server.url(), server.url())
        try await server.close()
        #expect(outcomes == Array(repeating: .answered(isHTTP2 ? "HTTP/2.0" : "HTTP/1.1"), count: 3))
        let count = isKept ? 1 : 3
        #expect(evaluator.hosts.withLock { $0 } == Array(repeating: Forge.host, count: count))
        // One additional connection fetches the chain.
        #expect(server.seen.connections == count + 1)
    }

    @Test func `if chains are not fetched, the intermediates must be configured`() async throws {
        let server = try await TrustServer(chain)
        var client = TrustClient(isHTTP2: true)
        client.enforcement.fetchesChains = false
        let refused = try await client.get(server.url())
        client.enforcement.intermediates = [Forge.intermediate.certificate]
        let trusted = try await client.get(server.url())
        try await server.close()
        #expect(refused == [.refused(Forge.host, "custom")])
        #expect(trusted == [.answered("HTTP/2.0")])
        #expect(server.seen.connections == 2)
    }

    @Test func `if the chain cannot be fetched, configured intermediates are sufficient`() async throws {
        let server = try await TrustServer(chain, isForOne: true)
        var client = TrustClient(isHTTP2: false)
        client.enforcement.intermediates = [Forge.intermediate.certificate]
        let outcomes = try await client.get(server.url())
        try await server.close()
        #expect(outcomes == [.answered("HTTP/1.1")])
        #expect(server.seen.connections == 1)
    }

    @Test(arguments: [true, false])
    func `a server whose evaluation exceeds the time limit is refused`(isHTTP2: Bool) async throws {
        let server = try await TrustServer(chain)
        var client = TrustClient(isHTTP2: isHTTP2)
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        client.evaluate(PlayedEvaluator(deed: { for await _ in stream {} }))
        client.enforcement.evaluationTimeLimit = .milliseconds(200)
        let outcomes = try await client.get(server.url())
        continuation.finish()
        try await server.close()
        #expect(outcomes == [.refused(Forge.host, "timedOut")])
        #expect(server.seen.requests.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a client that retries connections throws the same error in the end`(isHTTP2: Bool) async throws {
        let server = try await TrustServer(chain)
        let evaluator = PlayedEvaluator()
        var client = TrustClient(isHTTP2: isHTTP2)
        client.manager = ServerTrustManager(evaluators: [
            Forge.host: CompositeTrustEvaluator(evaluators: [evaluator, PublicKeysTrustEvaluator(keys: [])])
        ])
        client.configuration.timeout.connect = .seconds(10)
        client.adjust = { $0.connectionPool.retryConnectionEstablishment = true }
        let outcomes = try await client.get(server.url())
        try await server.close()
        #expect(outcomes == [.refused(Forge.host, "noPins")])
        #expect(server.seen.requests.isEmpty)
        #expect(evaluator.hosts.withLock { $0.count } > 1)
    }

    @Test(arguments: [true, false])
    func `a server that closes the connection during the evaluation ends the request`(isHTTP2: Bool) async throws {
        let server = try await TrustServer(chain)
        var client = TrustClient(isHTTP2: isHTTP2)
        client.evaluate(PlayedEvaluator(deed: { await server.cut() }))
        let outcomes = try await client.get(server.url())
        try await server.close()
        #expect(!outcomes[0].isRefused && server.seen.requests.isEmpty, "\(outcomes)")
    }

    /// The connection pool would stop the program if it received GOAWAY for a connection that it does not have yet.
    @Test func `a GOAWAY during the evaluation affects no other request`() async throws {
        let server = try await TrustServer(chain)
        let evaluations = Locked(0)
        let evaluator = PlayedEvaluator {
            let count = evaluations.withLock { count in
                count += 1
                return count
            }
            if count == 2 { try? await server.goAway() }
        }
        var client = TrustClient(isHTTP2: true)
        client.evaluate(evaluator)
        client.configuration.maximumUsesPerConnection = 1
        let outcomes = try await client.get(server.url(), server.url(), server.url())
        try await server.close()
        #expect(outcomes[0] == .answered("HTTP/2.0") && outcomes[2] == outcomes[0])
        #expect(!outcomes[1].isRefused, "\(outcomes)")
    }

    @Test(arguments: [true, false])
    func `the target of a redirect is evaluated for its own host`(isHTTP2: Bool) async throws {
        let pins = try PinSet([Forge.strangeRoot.pin], requiresBackup: false)
        let other = try await TrustServer([Forge.server(["b.example.org"]), Forge.intermediate])
        let target = other.url("b.example.org")
        let first = try await TrustServer([Forge.server(["a.example.org"]), Forge.intermediate], redirect: target)
        var client = TrustClient(isHTTP2: isHTTP2)
        let trusted = try await client.get(first.url("a.example.org"))
        client.manager = ServerTrustManager(evaluators: [
            "*.example.org": DefaultTrustEvaluator(), "b.example.org": PinSetTrustEvaluator(pins: pins),
        ])
        let refused = try await client.get(first.url("a.example.org"))
        try await first.close()
        try await other.close()
        #expect(trusted == [.answered(isHTTP2 ? "HTTP/2.0" : "HTTP/1.1")])
        #expect(refused == [.refused("b.example.org", "pinMismatch")])
        #expect(first.seen.requests.count == 2 && other.seen.requests.count == 1)
    }

    @Test func `a Host header does not change the evaluated host`() async throws {
        let server = try await TrustServer(chain)
        var client = TrustClient(isHTTP2: true)
        client.manager = ServerTrustManager(evaluators: [
            Forge.host: PublicKeysTrustEvaluator(keys: []), "other.example": DisabledTrustEvaluator(),
        ])
        let outcomes = try await client.get(server.url()) { $0.headers.add(name: "Host", value: "other.example") }
        try await server.close()
        #expect(outcomes == [.refused(Forge.host, "noPins")])
    }

    @Test func `a request with its own TLS settings is evaluated`() async throws {
        let server = try await TrustServer([Forge.stranger])
        let client = TrustClient(isHTTP2: true)
        let outcomes = try await client.get(server.url()) {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.certificateVerification = .none
            $0.tlsConfiguration = configuration
        }
        try await server.close()
        #expect(outcomes == [.refused(Forge.host, "unknownIssuer")])
        #expect(server.seen.requests.isEmpty)
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `a server is evaluated by its address`(address: String) async throws {
        let bytes: [UInt8] = address == "::1" ? Array(repeating: 0, count: 15) + [1] : [127, 0, 0, 1]
        let leaf = Forge.server { $0.names = [.ipAddress(.init(contentBytes: bytes[...]))] }
        let server = try await TrustServer([leaf, Forge.intermediate], address: address)
        let url = server.url(address == "::1" ? "[::1]" : address)
        var client = TrustClient(isHTTP2: true)
        client.evaluate(DefaultTrustEvaluator(), for: address)
        let trusted = try await client.get(url)
        client.evaluate(PublicKeysTrustEvaluator(keys: []), for: address)
        let refused = try await client.get(url)
        try await server.close()
        #expect(trusted == [.answered("HTTP/2.0")])
        #expect(refused == [.refused(address, "noPins")])
    }

    @Test(arguments: [true, false])
    func `behind a proxy the intermediates must be configured`(isHTTP2: Bool) async throws {
        let server = try await TrustServer(chain)
        let proxy = try ScriptedServer.proxy(to: server.port)
        var client = TrustClient(isHTTP2: isHTTP2)
        client.configuration.dnsOverride = [:]
        client.configuration.proxy = .server(host: "127.0.0.1", port: proxy.port)
        let unseen = try await client.get("https://example.org/")
        client.enforcement.intermediates = [Forge.intermediate.certificate]
        let trusted = try await client.get("https://example.org/")
        client.evaluate(PublicKeysTrustEvaluator(keys: []))
        let refused = try await client.get("https://example.org/")
        proxy.stop()
        try await server.close()
        #expect(unseen == [.refused(Forge.host, "custom")])
        #expect(trusted == [.answered(isHTTP2 ? "HTTP/2.0" : "HTTP/1.1")])
        #expect(refused == [.refused(Forge.host, "noPins")])
        #expect(proxy.received.map(\.target) == Array(repeating: "example.org:443", count: 3))
        #expect(server.seen.requests.count == 1)
    }

    @Test func `behind a proxy a server without a host name is refused`() async throws {
        let leaf = Forge.server { $0.names = [.ipAddress(.init(contentBytes: [127, 0, 0, 1]))] }
        let server = try await TrustServer([leaf, Forge.intermediate])
        let proxy = try ScriptedServer.proxy(to: server.port)
        var client = TrustClient(isHTTP2: false)
        client.evaluate(DisabledTrustEvaluator(), for: "127.0.0.1")
        client.configuration.proxy = .server(host: "127.0.0.1", port: proxy.port)
        let outcomes = try await client.get("https://127.0.0.1/")
        proxy.stop()
        try await server.close()
        #expect(outcomes == [.refused("an unknown host", "custom")])
        #expect(server.seen.bytes == 0)
    }

    @Test(arguments: [true, false])
    func `a client certificate is sent to the server`(isHTTP2: Bool) async throws {
        let server = try await TrustServer(chain, clientRoot: Forge.root)
        let identity = Forge.server { $0.purposes = [.clientAuth] }
        var client = TrustClient(isHTTP2: isHTTP2)
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = [
            .certificate(try identity.forTLS()), .certificate(try Forge.intermediate.forTLS()),
        ]
        configuration.privateKey = .privateKey(try identity.key.forTLS())
        client.configuration.tlsConfiguration = configuration
        let outcomes = try await client.get(server.url())
        try await server.close()
        #expect(outcomes == [.answered(isHTTP2 ? "HTTP/2.0" : "HTTP/1.1")])
        #expect(server.seen.isWithClientCertificate == [true])
    }

    @Test(arguments: [true, false])
    func `plain HTTP is refused unless allowed`(isAllowed: Bool) async throws {
        #expect(!ServerTrustEnforcement().allowsPlainHTTP)
        let server = try await TrustServer(nil)
        var client = TrustClient(isHTTP2: true)
        client.enforcement.allowsPlainHTTP = isAllowed
        let outcomes = try await client.get("http://127.0.0.1:\(server.port)/")
        try await server.close()
        #expect(outcomes == [isAllowed ? .answered("HTTP/1.1") : .refused("127.0.0.1", "custom")])
        #expect(isAllowed || server.seen.bytes == 0)
    }

    @Test func `a self-signed certificate passes the handshake if it is configured, and must be pinned`() async throws {
        let server = try await TrustServer([Forge.ownRoot])
        var client = TrustClient(isHTTP2: true)
        client.enforcement.handshakeVerification = .full(alsoTrusting: [Forge.ownRoot.certificate])
        let unpinned = try await client.get(server.url())
        client.evaluate(
            PinnedCertificatesTrustEvaluator(
                certificates: [Forge.ownRoot.certificate],
                acceptSelfSignedCertificates: true
            )
        )
        let pinned = try await client.get(server.url())
        try await server.close()
        #expect(unpinned == [.refused(Forge.host, "selfSigned")])
        #expect(pinned == [.answered("HTTP/2.0")])
    }

    @Test(arguments: [true, false])
    func `existing connection initializers run after the verdict`(isHTTP2: Bool) async throws {
        let server = try await TrustServer(chain)
        let calls = Locked<[String]>([])
        var client = TrustClient(isHTTP2: isHTTP2)
        client.evaluate(PlayedEvaluator(deed: { calls.withLock { $0.append("judged") } }))
        let note: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            calls.withLock { $0.append("called") }
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        client.configuration.http1_1ConnectionDebugInitializer = note
        client.configuration.http2ConnectionDebugInitializer = note
        let outcomes = try await client.get(server.url())
        try await server.close()
        #expect(outcomes == [.answered(isHTTP2 ? "HTTP/2.0" : "HTTP/1.1")])
        #expect(calls.withLock { $0 } == ["judged", "called"])
    }

    @Test func `the minimum TLS version is raised to 1.2`() {
        var configuration = HTTPClient.Configuration()
        var settings = TLSConfiguration.makeClientConfiguration()
        settings.minimumTLSVersion = .tlsv1
        settings.maximumTLSVersion = .tlsv11
        configuration.tlsConfiguration = settings
        let final = configuration.enforcing(ServerTrustManager(evaluators: [:]))
        #expect(final.tlsConfiguration?.minimumTLSVersion == .tlsv12)
        #expect(final.tlsConfiguration?.maximumTLSVersion == .tlsv12)
        #expect(final.tlsConfiguration?.certificateVerification == .fullVerification)
        #expect(!final.connectionPool.retryConnectionEstablishment)
    }
}

extension ScriptedServer {
    /// A proxy that connects each client to the same port, whichever host the client requests.
    fileprivate static func proxy(to port: Int) throws -> ScriptedServer {
        try ScriptedServer { _ in ScriptedReply("HTTP/1.1 200 OK\r\n\r\n", then: .tunnel(port: port)) }
    }
}
