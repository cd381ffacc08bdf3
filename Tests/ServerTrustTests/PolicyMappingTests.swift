import ServerTrust
import Testing
import TrustForge

/// The names of Alamofire 4 and AFNetworking give the same verdicts as the evaluators they stand for.
@Suite struct PolicyMappingTests {
    private static let expiredLeaf = World.leaf { $0.ends = TrustTime(year: 2026, month: 2, day: 1) }
    private static let own = Blueprint.leaf("selfish").signed()

    /// What is judged.
    private static func trust(_ name: String) throws -> ServerTrust {
        var trust = try TrustCase(name) {
            switch name {
            case "expired": $0.send(expiredLeaf, World.intermediate)
            case "stranger": $0.send(World.strangeLeaf)
            case "own": $0.send(own)
            default: break
            }
        }.trust()
        trust.revocation = RevocationChecker()
        return trust
    }

    private static func policies(validateHost: Bool, validateChain: Bool) -> [ServerTrustPolicy] {
        let pinned = [World.leaf, World.intermediate, expiredLeaf, own].map(\.certificate)
        return [
            .performDefaultEvaluation(validateHost: validateHost),
            .performRevokedEvaluation(validateHost: validateHost, revocationFlags: .any),
            .pinCertificates(
                certificates: pinned,
                validateCertificateChain: validateChain,
                validateHost: validateHost
            ),
            .pinPublicKeys(
                publicKeys: pinned.map(\.publicKey),
                validateCertificateChain: validateChain,
                validateHost: validateHost
            ),
        ]
    }

    @Test(arguments: [
        // Default, revoked, certificates, keys.
        ("good", World.host, true, true, [true, true, true, true]),
        ("good", "example.com", true, true, [false, false, false, false]),
        ("good", "example.com", false, true, [true, true, true, true]),
        ("expired", World.host, true, true, [false, false, false, false]),
        ("expired", World.host, true, false, [false, false, true, true]),
        ("stranger", World.host, true, true, [false, false, false, false]),
        ("stranger", World.host, false, false, [false, false, false, false]),
        // Pinned certificates are anchors, so one's own passes; pinned keys need a chain to the system's.
        ("own", World.host, true, true, [false, false, true, false]),
        ("own", World.host, true, false, [false, false, true, true]),
    ])
    func alamofire4(
        _ name: String,
        _ host: String,
        _ validateHost: Bool,
        _ validateChain: Bool,
        _ expected: [Bool]
    ) throws {
        let trust = try Self.trust(name)
        let policies = Self.policies(validateHost: validateHost, validateChain: validateChain)
        #expect(policies.map { $0.evaluate(trust, forHost: host) } == expected)
    }

    @Test func alamofire4Others() throws {
        let trust = try Self.trust("stranger")
        #expect(ServerTrustPolicy.disableEvaluation.evaluate(trust, forHost: "disabled.example"))
        #expect(ServerTrustPolicy.customEvaluation { _, host in host == "a" }.evaluate(trust, forHost: "a"))
        #expect(!ServerTrustPolicy.customEvaluation { _, host in host == "a" }.evaluate(trust, forHost: "b"))
        for validateChain in [true, false] {
            let certificates = ServerTrustPolicy.pinCertificates(
                certificates: [],
                validateCertificateChain: validateChain,
                validateHost: false
            )
            let keys = ServerTrustPolicy.pinPublicKeys(
                publicKeys: [],
                validateCertificateChain: validateChain,
                validateHost: false
            )
            #expect(!certificates.evaluate(try Self.trust("good"), forHost: World.host))
            #expect(!keys.evaluate(try Self.trust("good"), forHost: World.host))
        }
    }

    @Test(arguments: [
        // none, publicKey, certificate; each without and with allowInvalidCertificates.
        ("good", World.host, true, [true, false, true, true, true, true]),
        ("good", "example.com", true, [false, false, false, false, false, false]),
        ("good", "example.com", false, [true, true, true, true, true, true]),
        ("expired", World.host, true, [false, false, false, true, false, false]),
        ("stranger", World.host, true, [false, false, false, false, false, false]),
        ("stranger", World.host, false, [false, true, false, false, false, false]),
        ("own", World.host, true, [false, false, false, true, false, true]),
    ])
    func afNetworking(_ name: String, _ host: String, _ validatesDomainName: Bool, _ expected: [Bool]) throws {
        let trust = try Self.trust(name)
        let pinned = [World.leaf, Self.expiredLeaf, Self.own].map(\.certificate)
        let verdicts = [AFSSLPinningMode.none, .publicKey, .certificate].flatMap { mode in
            [false, true].map { allowsInvalid in
                var policy = AFSecurityPolicy(pinningMode: mode, withPinnedCertificates: pinned)
                policy.allowInvalidCertificates = allowsInvalid
                policy.validatesDomainName = validatesDomainName
                return policy.evaluateServerTrust(trust, forDomain: host)
            }
        }
        #expect(verdicts == expected)
    }

    @Test func afNetworkingRawValues() {
        #expect(AFSSLPinningMode(rawValue: 0) == AFSSLPinningMode.none)
        #expect(AFSSLPinningMode(rawValue: 1) == .publicKey)
        #expect(AFSSLPinningMode(rawValue: 2) == .certificate)
    }

    @Test func appleRawValues() {
        #expect(RevocationFlags.ocsp.rawValue == 1)
        #expect(RevocationFlags.crl.rawValue == 2)
        #expect(RevocationFlags.preferCRL.rawValue == 4)
        #expect(RevocationFlags.requirePositiveResponse.rawValue == 8)
        #expect(RevocationFlags.networkAccessDisabled.rawValue == 16)
        #expect(RevocationFlags.any.rawValue == 3 && RevocationFlags.useAnyAvailableMethod.rawValue == 3)
    }
}
