import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing
import WebLab

@testable import ReachabilityChecks

/// The certificate of a server, and the reason why it is not accepted.
struct SecureCase: Sendable, CustomTestStringConvertible {
    var name: String
    var identity: WebIdentity?
    var behaviour = WebBehaviour.anchor
    var reason: ProbeReason
    /// The issuer; nil if the server shows no certificate.
    var issuer: String?

    var testDescription: String { name }

    private static let root = "CN=Web Lab Root,O=Forge"

    private static func good(_ change: (inout WebIdentity) -> Void) -> WebIdentity {
        var identity = WebIdentity.good(for: WebWorld.host)
        change(&identity)
        return identity
    }

    static let all: [SecureCase] = [
        SecureCase(name: "expired", identity: .expired(for: WebWorld.host), reason: .expired, issuer: root),
        SecureCase(
            name: "not yet valid",
            identity: .notYetValid(for: WebWorld.host),
            reason: .notYetValid,
            issuer: root
        ),
        SecureCase(name: "for another host", identity: .wrongName(), reason: .wrongName, issuer: root),
        SecureCase(
            name: "self-signed",
            identity: .selfSigned(for: WebWorld.host),
            reason: .untrusted,
            issuer: "CN=web.example,O=Forge"
        ),
        SecureCase(
            name: "from another authority",
            identity: .otherAuthority(for: WebWorld.host),
            reason: .untrusted,
            issuer: "CN=Web Lab Stranger,O=Forge"
        ),
        SecureCase(name: "only old TLS versions", identity: good { $0.isOld = true }, reason: .versionOrCipher),
        SecureCase(
            name: "a client certificate is required, TLS 1.3",
            identity: good { $0.demandsCertificate = true },
            reason: .clientCertificateRequired,
            issuer: root
        ),
        SecureCase(
            name: "a client certificate is required, TLS 1.2",
            identity: good { ($0.demandsCertificate, $0.isLimitedTo12) = (true, true) },
            reason: .clientCertificateRequired,
            issuer: root
        ),
        SecureCase(
            name: "plain HTTP",
            behaviour: .bytes(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
            reason: .notTLS
        ),
        SecureCase(name: "an alert", behaviour: .bytes([21, 3, 3, 0, 2, 2, 80]), reason: .alert),
        SecureCase(name: "handshake failure", behaviour: .bytes([21, 3, 3, 0, 2, 2, 40]), reason: .versionOrCipher),
        SecureCase(name: "closed before the handshake", behaviour: .closedConnection, reason: .closedDuringHandshake),
        SecureCase(
            name: "closed after the client hello",
            behaviour: .bytes([], isClosed: true),
            reason: .closedDuringHandshake
        ),
    ]
}

@Suite struct SecureWebTests {
    @Test(arguments: SecureCase.all)
    func `each TLS failure has its reason`(expected: SecureCase) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, identity: expected.identity, expected.behaviour)
        let result = try await world.fetch(server, WebCase.anchor, isSecure: true)
        #expect(result.request.kind == .tls && result.outcome == .invalid(expected.reason), "\(result)")
        #expect(result.failedPhase == .tls && result.phases[.connect] != nil)
        #expect(result.evidence.tls?.issuer == expected.issuer)
        if expected.reason != .clientCertificateRequired { #expect(result.evidence.tls?.isVerified != true) }
        #expect(server.requests.allSatisfy { !$0.hasPrefix("GET") })
        await server.close()
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `a server with a trusted certificate answers`(address: String) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, identity: .good(for: WebWorld.host, address))
        let result = try await world.fetch(server, WebCase.anchor, isSecure: true, at: address)
        #expect(result.outcome == .answered && result.request.kind == .http && result.isVerified, "\(result)")
        #expect(result.evidence.tls?.version == "1.3" && result.evidence.tls?.issuer == "CN=Web Lab Root,O=Forge")
        #expect(Set(result.phases.keys) == [.connect, .tls, .request, .firstByte, .transfer])
        // The server is also requested by its address.
        let host = address.contains(":") ? "[\(address)]" : address
        let byAddress = try await world.fetch(server, WebCase.anchor, isSecure: true, host: host, at: address)
        #expect(byAddress.isVerified, "\(byAddress)")
        // An anchor with a server error still proves internet access.
        server.behave(.answer(500))
        let ill = try await world.fetch(server, WebCase.anchor, isSecure: true, at: address)
        #expect(ill.outcome == .invalid(.statusNotExpected) && ill.isVerified && ill.request.kind == .http)
        server.behave(.faked)
        #expect(try await world.fetch(server, WebCase.anchor, isSecure: true, at: address).outcome == .answered)
        await server.close()
    }

    @Test func `TLS 1.2 is sufficient`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        var identity = WebIdentity.good(for: WebWorld.host)
        identity.isLimitedTo12 = true
        let server = try await WebServer(in: world.namespace, identity: identity, .body(100_000))
        let result = try await world.fetch(server, isSecure: true)
        #expect(result.outcome == .answered && result.evidence.tls?.version == "1.2", "\(result)")
        await server.close()
    }

    @Test func `a handshake that is never answered is silent`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, .silentConnection)
        let result = try await world.fetch(server, WebCase.anchor, isSecure: true, limit: .seconds(8))
        #expect(result.outcome == .silent && result.request.kind == .tls && result.failedPhase == .tls, "\(result)")
        #expect(Set(result.phases.keys) == [.connect] && result.evidence.tls == nil)
        await server.close()
    }

    @Test func `a wrong clock of this machine is detected`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, identity: .good(for: WebWorld.host))
        for (offset, reason) in [
            (Duration.seconds(86_400 * 400), ProbeReason.expired), (.seconds(-86_400 * 400), .notYetValid),
        ] {
            let result = try await world.fetch(server, isSecure: true, now: { SystemClock.real + offset })
            #expect(result.outcome == .invalid(reason), "\(result)")
        }
        await server.close()
    }
}
