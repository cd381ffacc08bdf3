import NIOSSL
import NetworkLab
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge

/// TLS versions and invalid settings.
@Suite struct SettingsTests {
    private static func connect(
        minimum: TLSMinimumVersion,
        server versions: ClosedRange<Int>
    ) async throws -> TrustClient.Outcome {
        let server = try ScriptedServer.greeting(World.leaf, World.intermediate, versions: versions)
        let factory = try TrustClient.factory(TrustCase("") { _ in }) { settings, _ in
            settings.minimumVersion = minimum
        }
        let outcome = try await TrustClient.connect(factory, host: World.host, port: server.port)
        server.stop()
        return outcome
    }

    /// The versions are the minor numbers: 0 is TLS 1.0.
    @Test(arguments: [
        (TLSMinimumVersion.tls12, 0...2, TLSVersion.tlsv12), (.tls12, 0...3, .tlsv13), (.tls12, 3...3, .tlsv13),
        (.tls13, 2...3, .tlsv13),
    ])
    func `the highest common TLS version is negotiated`(
        minimum: TLSMinimumVersion,
        versions: ClosedRange<Int>,
        version: TLSVersion
    ) async throws {
        let outcome = try await Self.connect(minimum: minimum, server: versions)
        #expect(try outcome.handshake.get().version == version)
        #expect(outcome.greeting == "hello")
    }

    @Test(arguments: [(TLSMinimumVersion.tls12, 0...1), (.tls12, 0...0), (.tls13, 2...2)])
    func `without a common TLS version the handshake fails`(
        minimum: TLSMinimumVersion,
        versions: ClosedRange<Int>
    ) async throws {
        let outcome = try await Self.connect(minimum: minimum, server: versions)
        #expect(outcome.otherError is NIOSSLError, "\(outcome.handshake)")
        #expect(outcome.greeting == nil)
        #expect(throws: NIOSSLError.self) { try outcome.written.get() }
    }

    @Test(arguments: ["", String(repeating: "h", count: 256)])
    func `an invalid application protocol is refused`(name: String) {
        #expect(throws: TLSSettingsError.invalidApplicationProtocol(name)) {
            try TrustClient.factory(TrustCase("") { _ in }) { settings, _ in
                settings.applicationProtocols = ["h2", name]
            }
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `a time limit of 0 or less is refused`(limit: Duration) {
        #expect(throws: TLSSettingsError.invalidTimeLimit(limit)) {
            try TrustClient.factory(TrustCase("") { _ in }) { settings, _ in settings.evaluationTimeLimit = limit }
        }
    }

    @Test func `the largest time limit is accepted`() throws {
        _ = try TrustClient.factory(TrustCase("") { _ in }) { settings, _ in
            settings.evaluationTimeLimit = .seconds(Int64.max)
        }
    }
}
