import Logging
import ServerTrust
import TestSupport
import Testing
import TrustForge
import X509

/// Evaluators whose tests do not fit into the tables of cases.
@Suite struct EvaluatorTests {
    private static func trust(logger: Logger? = nil) throws -> ServerTrust {
        var trust = try TrustCase("good") { _ in }.trust()
        if let logger { trust.logger = logger }
        return trust
    }

    @Test func `disabled evaluation logs one warning per host`() throws {
        let log = RecordingLog()
        var trust = try ServerTrust(certificates: [World.strangeLeaf.certificate])
        trust.logger = log.logger
        for _ in 0..<3 {
            try DisabledTrustEvaluator().evaluate(trust, forHost: "loud.example")
            try DisabledTrustEvaluator().evaluate(trust, forHost: "louder.example")
        }
        #expect(
            log.lines == [
                "warning: server trust is disabled for loud.example: any server can impersonate it",
                "warning: server trust is disabled for louder.example: any server can impersonate it",
            ]
        )
    }

    @Test func `a pin mismatch is reported, enforced or not`() throws {
        let reports = RecordingLog()
        let log = RecordingLog()
        let trust = try Self.trust(logger: log.logger)
        let pins = try PinSet([World.strangeRoot.pin, World.strangeLeaf.pin], reportsOnly: true) { report in
            reports.append("\(report.host) \(report.isEnforced) \(report.presented.count) \(report.expected.count)")
        }
        try PinSetTrustEvaluator(pins: pins).evaluate(trust, forHost: World.host)
        #expect(reports.lines == ["example.org false 3 2"])
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.hasSuffix("trusted anyway, because the pins only report") == true)
        let enforced = try PinSet([World.strangeRoot.pin, World.strangeLeaf.pin]) { report in
            reports.append("\(report.host) \(report.isEnforced)")
        }
        #expect(PinSetTrustEvaluator(pins: enforced).reason(trust) != nil)
        #expect(reports.lines.last == "example.org true")
    }

    @Test func `pins that only report still require a valid chain`() throws {
        var trust = try Self.trust()
        trust.anchors = TrustAnchors([World.strangeRoot.certificate])
        let pins = try PinSet([World.leaf.pin, World.strangeLeaf.pin], expires: World.begins)
        let evaluator = PinSetTrustEvaluator(pins: pins, performDefaultValidation: false)
        #expect(throws: ServerTrustError.self) { try evaluator.evaluate(trust, forHost: World.host) }
    }

    @Test func `a missing backup pin is logged once`() throws {
        let log = RecordingLog()
        let trust = try Self.trust(logger: log.logger)
        let pins = try PinSet([World.leaf.pin, World.intermediate.pin])
        try PinSetTrustEvaluator(pins: pins, validateHost: false).evaluate(trust, forHost: "backup.example")
        try PinSetTrustEvaluator(pins: pins, validateHost: false).evaluate(trust, forHost: "backup.example")
        #expect(
            log.lines == [
                "warning: all pins for backup.example are on its chain; add a backup pin for a key that is not in use"
            ]
        )
    }

    @Test func `a composite evaluator requires each of its evaluators`() throws {
        let trust = try Self.trust()
        func reason(_ evaluators: any ServerTrustEvaluating...) -> TrustFailure? {
            CompositeTrustEvaluator(evaluators: evaluators).reason(trust)
        }
        let pinning = PublicKeysTrustEvaluator(keys: [World.leaf.certificate.publicKey])
        #expect(reason(DefaultTrustEvaluator(), pinning) == nil)
        #expect(reason(DefaultTrustEvaluator(), PublicKeysTrustEvaluator(keys: [])) == .noPins)
        #expect(reason() == .noEvaluator)
    }

    /// A checker with one status that is known offline, and one that is known after network access.
    private struct Oracle: RevocationChecking {
        let known: RevocationStatus
        let asked: RevocationStatus

        func knownStatus(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) -> RevocationStatus {
            known
        }

        func status(
            of chain: ValidatedChain,
            in trust: ServerTrust,
            flags: RevocationFlags
        ) async -> RevocationStatus { asked }
    }

    @Test(arguments: [[5], [17, 5], [1]])
    func `a must-staple certificate requires an OCSP response`(features: [UInt8]) throws {
        var blueprint = Blueprint.leaf()
        let value: [UInt8] = [0x30, UInt8(features.count * 3)] + features.flatMap { [2, 1, $0] as [UInt8] }
        blueprint.more = [Certificate.Extension(oid: [1, 3, 6, 1, 5, 5, 7, 1, 24], critical: false, value: value[...])]
        let leaf = blueprint.signed(by: World.intermediate)
        var trust = try TrustCase("must-staple") { $0.send(leaf, World.intermediate) }.trust()
        trust.revocation = RevocationChecker()
        let unknown = TrustFailure.revocationUnknown(subject: World.host, detail: RevocationDoubt(.noSource))
        #expect(RevocationTrustEvaluator().reason(trust) == (features.contains(5) ? unknown : nil))
    }

    @Test func `soft evaluation accepts an unknown status, and hard evaluation refuses it`() async throws {
        let leaf = World.leaf.certificate
        var trust = try Self.trust()
        let soft = RevocationTrustEvaluator()
        let hard = RevocationTrustEvaluator(options: [.any, .requirePositiveResponse])
        func reason(_ evaluator: RevocationTrustEvaluator, online: Bool) async -> TrustFailure? {
            online ? await evaluator.onlineReason(trust) : evaluator.reason(trust)
        }
        let offline = RevocationDoubt(.networkAccessDisabled)
        let stolen = RevocationRecord(source: .other("the oracle"))
        for online in [true, false] {
            #expect(await reason(soft, online: online) == .noRevocationChecker)
            #expect(await reason(hard, online: online) == .noRevocationChecker)
        }
        trust.revocation = Oracle(known: .unknown(leaf, detail: offline), asked: .good)
        #expect(await reason(soft, online: false) == nil)
        #expect(await reason(hard, online: false) == .revocationUnknown(subject: World.host, detail: offline))
        #expect(await reason(hard, online: true) == nil)
        trust.revocation = Oracle(known: .good, asked: .revoked(leaf, detail: stolen))
        #expect(await reason(soft, online: false) == nil)
        #expect(await reason(soft, online: true) == .revoked(subject: World.host, detail: stolen))
        trust.anchors = TrustAnchors([World.strangeRoot.certificate])
        #expect(await reason(soft, online: true) == .unknownIssuer(subject: "Intermediate", issuer: "CN=Root,O=Forge"))
    }

    @Test func `an error contains the reason, host and chain`() throws {
        var trust = try Self.trust()
        trust.time = World.ends.advanced(by: .seconds(1))
        let error = #expect(throws: ServerTrustError.self) {
            try DefaultTrustEvaluator().evaluate(trust, forHost: World.host)
        }
        #expect(error?.host == World.host)
        #expect(error?.chain.map(\.description) == ["example.org", "Intermediate", "Root"])
        #expect(
            error.map { "\($0)" }
                == "the server of example.org is not trusted: example.org has expired, it was valid until 2027-01-01T00:00:00Z"
        )
    }
}
