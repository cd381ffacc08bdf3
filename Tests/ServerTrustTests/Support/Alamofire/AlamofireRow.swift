import Logging
import ServerTrust
import Testing
import TrustForge

/// One expectation of the tests or documentation of Alamofire or AFNetworking, and the verdict of ServerTrust.
struct AlamofireRow: Sendable {
    /// The type of ServerTrust that evaluates the row.
    enum Judge: Sendable {
        /// The chain validation itself, with or without the host.
        case chain(validateHost: Bool)
        case policy(ServerTrustPolicy)
        case evaluator(any ServerTrustEvaluating)
        case policyManager(ServerTrustPolicyManager)
        case manager(ServerTrustManager)
        /// AFNetworking's policy. A nil host is passed as a nil domain.
        case security(AFSecurityPolicy)
    }

    let name: String
    let judge: Judge
    var sent: [Forged]
    /// The root of alamofire.org, as in Alamofire's tests. ``AlamofireWorld/system`` if a test sets no anchors.
    var anchors = [AlamofireWorld.root]
    var host: String? = AlamofireWorld.host
    var isForServers = true
    /// A revoked certificate. A list of its issuer is available.
    var revoked: (certificate: Forged, issuer: Forged)?
    /// The verdict of ServerTrust.
    var expected = TrustCase.Verdict.trusted
    /// The reason why Alamofire's verdict differs; nil if it does not.
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

    /// Evaluates with the system's roots, and for a host.
    mutating func onSystem(host: String? = AlamofireWorld.host) {
        anchors = AlamofireWorld.system
        self.host = host
    }

    /// Whether Alamofire trusts the server.
    var isTrustedByTheirs: Bool { (expected == .trusted) == (difference == nil) }

    private func trust() throws -> ServerTrust {
        var trust = try ServerTrust(certificates: sent.map(\.certificate), host: host)
        trust.anchors = TrustAnchors(anchors.map(\.certificate))
        trust.time = World.now
        // Apple's systems always have a revocation checker.
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

    /// Returns the verdict of ServerTrust.
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

    /// Returns the Boolean result of the types that return one; nil for the others.
    func answer() throws -> Bool? {
        let trust = try trust()
        return switch judge {
        case .chain, .evaluator, .manager: nil
        case .policy(let policy): policy.evaluate(trust, forHost: host ?? "")
        case .policyManager(let manager): policy(of: manager).evaluate(trust, forHost: host ?? "")
        case .security(let policy): policy.evaluateServerTrust(trust, forDomain: host)
        }
    }

    /// Returns the policy of a manager. Without one, Alamofire 4 uses the system's evaluation.
    private func policy(of manager: ServerTrustPolicyManager) -> ServerTrustPolicy {
        manager.serverTrustPolicy(forHost: host ?? "") ?? .performDefaultEvaluation(validateHost: true)
    }
}

extension AlamofireRow: CustomTestStringConvertible {
    var testDescription: String { name }
}
