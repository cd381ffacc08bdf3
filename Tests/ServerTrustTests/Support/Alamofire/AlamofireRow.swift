import Logging
import ServerTrust
import Testing
import TrustForge

/// One expectation of Alamofire's or AFNetworking's tests or documentation, and what we say.
struct AlamofireRow: Sendable {
    /// Through which of our names it is asked.
    enum Judge: Sendable {
        /// The chain itself; no host if that is not validated.
        case chain(validateHost: Bool)
        case policy(ServerTrustPolicy)
        case evaluator(any ServerTrustEvaluating)
        case policyManager(ServerTrustPolicyManager)
        case manager(ServerTrustManager)
        /// AFNetworking: a host that is nil is a domain that is nil.
        case security(AFSecurityPolicy)
    }

    let name: String
    let judge: Judge
    var sent: [Forged]
    /// alamofire.org's root alone, as those tests set it; ``AlamofireWorld/system`` where they set none.
    var anchors = [AlamofireWorld.root]
    var host: String? = AlamofireWorld.host
    var isForServers = true
    /// Who is revoked, on a list at hand of its issuer.
    var revoked: (certificate: Forged, issuer: Forged)?
    /// Our verdict.
    var expected = TrustCase.Verdict.trusted
    /// Why theirs is the other one, where it is.
    var difference: String?

    init(_ name: String, _ sent: [Forged], _ judge: Judge, _ change: (inout AlamofireRow) -> Void = { _ in }) {
        self.name = name
        self.sent = sent
        self.judge = judge
        change(&self)
    }

    mutating func refuse(_ failure: TrustFailure) {
        expected = .refused(failure)
    }

    /// With the system's roots, and for a host.
    mutating func onSystem(host: String? = AlamofireWorld.host) {
        anchors = AlamofireWorld.system
        self.host = host
    }

    /// The verdict of theirs.
    var isTrustedByTheirs: Bool { (expected == .trusted) == (difference == nil) }

    private func trust() throws -> ServerTrust {
        var trust = try ServerTrust(certificates: sent.map(\.certificate), host: host)
        trust.anchors = TrustAnchors(anchors.map(\.certificate))
        trust.time = World.now
        // Apple's systems have a checker always.
        trust.revocation = RevocationChecker()
        trust.requirements.requiresServerAuthentication = isForServers
        trust.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        if let revoked {
            var list = ForgedList()
            list.issuer = revoked.issuer
            list.revoke(revoked.certificate)
            trust.revocation = RevocationChecker(lists: [
                try RevocationList(derEncoded: list.der(), name: "given")
            ])
        }
        return trust
    }

    /// What we say.
    func verdict() throws -> TrustCase.Verdict {
        let trust = try trust()
        let host = host ?? ""
        do throws(ServerTrustError) {
            switch judge {
            case .chain(let validateHost): _ = try trust.validatedChain(forHost: host, validateHost: validateHost)
            case .evaluator(let evaluator): try evaluator.evaluate(trust, forHost: host)
            case .manager(let manager): try manager.evaluate(trust, forHost: host)
            case .policy(let policy): try policy.evaluator.evaluate(trust, forHost: host)
            case .policyManager(let manager): try policy(of: manager).evaluator.evaluate(trust, forHost: host)
            case .security(var policy):
                if self.host == nil { policy.validatesDomainName = false }
                try policy.evaluator.evaluate(trust, forHost: host)
            }
            return .trusted
        } catch {
            return .refused(error.reason)
        }
    }

    /// What those of our names say that answer yes or no; nil for the others.
    func answer() throws -> Bool? {
        let trust = try trust()
        return switch judge {
        case .chain, .evaluator, .manager: nil
        case .policy(let policy): policy.evaluate(trust, forHost: host ?? "")
        case .policyManager(let manager): policy(of: manager).evaluate(trust, forHost: host ?? "")
        case .security(let policy): policy.evaluateServerTrust(trust, forDomain: host)
        }
    }

    /// Where Alamofire 4 has no policy, the system judges.
    private func policy(of manager: ServerTrustPolicyManager) -> ServerTrustPolicy {
        manager.serverTrustPolicy(forHost: host ?? "") ?? .performDefaultEvaluation(validateHost: true)
    }
}

extension AlamofireRow: CustomTestStringConvertible {
    var testDescription: String { name }
}
