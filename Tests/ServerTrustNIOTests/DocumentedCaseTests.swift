import NetworkLab
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge
import WebLab

/// The cases of `docs/server-trust.md` as real handshakes, except cases that no server of the tests can reproduce.
@Suite struct DocumentedCaseTests {
    /// The reason why a case cannot be reproduced.
    enum Obstacle {
        /// The server's TLS library does not load such a certificate.
        case notLoaded
        /// The server's TLS library has no handshake without a certificate.
        case noHandshake
        /// The server's TLS library sends the certificate without the fault.
        case sentWithoutFault
    }

    static let obstacles: [String: Obstacle] = [
        "a server whose key is for key agreement": .notLoaded,
        "a server whose key is for key encipherment": .notLoaded,
        "a server whose key is for revocation lists": .notLoaded,
        "signed with MD5": .notLoaded,
        "extensions in version 1": .notLoaded,
        "bytes that are not a certificate": .notLoaded,
        "nothing": .notLoaded,
        "a byte missing": .notLoaded,
        "an unreadable intermediate that is not needed": .notLoaded,
        "an unreadable intermediate that is needed": .notLoaded,
        "no certificates": .noHandshake,
        "a byte after the certificate": .sentWithoutFault,
    ]

    @Test(arguments: TrustCase.all)
    func `each case has the same verdict in a real handshake`(_ trust: TrustCase) async throws {
        let obstacle = Self.obstacles[trust.name]
        let server: ScriptedServer
        do {
            server = try .greeting(with: .server(sent: trust.sent, key: trust.key.forTLS()))
        } catch {
            #expect(obstacle == .notLoaded, "\(error)")
            return
        }
        do {
            let factory = try TrustClient.factory(trust)
            let outcome = try await TrustClient.connect(factory, host: trust.host, port: server.port)
            let expected: TrustCase.Verdict? =
                switch obstacle {
                case nil: trust.expected
                case .sentWithoutFault: .trusted
                case .noHandshake, .notLoaded: nil
                }
            #expect(outcome.verdict == expected, "\(outcome)")
            #expect((outcome.greeting == "hello") == (expected == .trusted))
            if expected != .trusted { #expect(server.visits.map(\.received) == [""]) }
        } catch let error as ServerTrustError {
            // An invalid host is refused before the handshake.
            #expect(.refused(error.reason) == trust.expected)
        }
        server.stop()
    }

    @Test func `few cases cannot be reproduced, and all of them exist`() {
        let names = Set(TrustCase.all.map(\.name))
        #expect(Self.obstacles.keys.allSatisfy(names.contains))
        #expect(Self.obstacles.count * 10 < names.count)
    }
}

extension TrustCase: CustomTestStringConvertible {
    package var testDescription: String { name }
}
