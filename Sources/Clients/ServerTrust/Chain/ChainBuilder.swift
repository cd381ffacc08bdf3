import X509

/// Searches for a chain from a server's certificate to an anchor: depth first, anchors before what the peer sent, likely issuers
/// before unlikely ones, each signature checked on the way (RFC 4158; RFC 5280, 6).
///
/// The verifier of swift-certificates does the same without limits, asynchronously, and tells its reasons as text; evaluations
/// here answer at once, within ``TrustRequirements``, and say why.
struct ChainBuilder {
    private let anchors: AnchorIndex
    private let intermediates: [TrustCertificate]
    private let policies: [any TrustPolicy]
    private let time: TrustTime
    private let requirements: TrustRequirements
    private let budget: EvaluationBudget

    private var signatures: SignatureLedger
    private var obstacle: ChainObstacle?

    init(_ trust: ServerTrust, policies: [any TrustPolicy], budget: EvaluationBudget) {
        anchors = trust.anchors.index
        // The same one twice would be tried twice.
        var seen: Set<TrustCertificate> = []
        intermediates = trust.certificates.dropFirst().filter { seen.insert($0).inserted }
        self.policies = policies
        time = trust.time
        requirements = trust.requirements
        self.budget = budget
        signatures = SignatureLedger(budget)
    }

    /// The first chain that passes all policies.
    mutating func build(from leaf: TrustCertificate) throws(ChainObstacle) -> ValidatedChain {
        if let problem = anchors.problem { throw ChainObstacle(.noAnchors(problem), chain: [leaf], rank: .limit) }
        do {
            if anchors.contains(leaf), let chain = try accepted([leaf]) { return chain }
            if let chain = try extend([leaf]) { return chain }
        } catch {
            throw ChainObstacle(error, chain: [leaf], rank: .limit)
        }
        throw obstacle ?? ChainObstacle(Self.deadEnd([leaf]), chain: [leaf], rank: .deadEnd)
    }

    /// A whole chain that begins with `path`, nil if there is none. Throws when no more may be done.
    private mutating func extend(_ path: [TrustCertificate]) throws(TrustFailure) -> ValidatedChain? {
        let tip = path[path.count - 1]
        guard path.count < requirements.maximumChainLength else {
            note(.tooComplex("it would have more than \(path.count) certificates"), path, .limit)
            return nil
        }
        var isForged = false
        for issuer in ranked(anchors.issuers(of: tip), for: tip) where !Self.contains(path, issuer) {
            try budget.spendStep()
            let isSigned = try signatures.isSigned(tip, by: issuer)
            if isSigned, let chain = try accepted(path + [issuer]) { return chain }
            isForged = isForged || !isSigned
        }
        let sent = intermediates.filter { $0.x509.subject == tip.x509.issuer }
        for issuer in ranked(sent, for: tip) where !Self.contains(path, issuer) {
            try budget.spendStep()
            let isSigned = try signatures.isSigned(tip, by: issuer)
            if isSigned, let chain = try extend(path + [issuer]) { return chain }
            isForged = isForged || !isSigned
        }
        if isForged {
            note(.badSignature(subject: tip.description), path, .forged)
        } else {
            note(Self.deadEnd(path), path, .deadEnd)
        }
        return nil
    }

    /// The chain if all policies pass it; else the first that does not is remembered.
    private mutating func accepted(_ chain: [TrustCertificate]) throws(TrustFailure) -> ValidatedChain? {
        for policy in policies {
            do {
                try policy.check(chain, at: time)
            } catch {
                switch error {
                // Another chain would not be cheaper to judge.
                case .tooComplex, .cancelled: throw error
                default: note(error, chain, .refused)
                }
                return nil
            }
        }
        return ValidatedChain(chain, at: time)
    }

    private mutating func note(_ failure: TrustFailure, _ chain: [TrustCertificate], _ rank: ChainObstacle.Rank) {
        guard rank > obstacle?.rank ?? .none else { return }
        obstacle = ChainObstacle(failure, chain: chain, rank: rank)
    }

    /// Those whose key identifier is the one asked for first, those with another last; those valid now before others.
    private func ranked(_ issuers: [TrustCertificate], for certificate: TrustCertificate) -> [TrustCertificate] {
        guard issuers.count > 1 else { return issuers }
        let wanted = (try? certificate.x509.extensions.authorityKeyIdentifier)?.keyIdentifier
        let places = issuers.map { issuer in
            let own = (try? issuer.x509.extensions.subjectKeyIdentifier)?.keyIdentifier
            let identifier = wanted == nil || own == nil ? 1 : wanted == own ? 0 : 2
            return identifier * 2 + (issuer.notBefore <= time && time <= issuer.notAfter ? 0 : 1)
        }
        return zip(places, issuers).enumerated()
            .sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }.map(\.element.1)
    }

    /// The same name and key once more leads nowhere new, whatever else the certificate says (RFC 4158, 5.2).
    private static func contains(_ path: [TrustCertificate], _ certificate: TrustCertificate) -> Bool {
        path.contains { $0.publicKey == certificate.publicKey && $0.x509.subject == certificate.x509.subject }
    }

    private static func deadEnd(_ path: [TrustCertificate]) -> TrustFailure {
        let tip = path[path.count - 1]
        guard tip.isSelfIssued else {
            return .unknownIssuer(subject: tip.description, issuer: tip.x509.issuer.readable)
        }
        return path.count == 1 ? .selfSigned(subject: tip.description) : .untrustedRoot(subject: tip.description)
    }
}

/// What stood in the way of a chain, with how far it was built.
struct ChainObstacle: Error {
    /// Which of several is told: a whole chain that was refused says more than a search that ended nowhere, and when the search
    /// was broken off that is it.
    enum Rank: Int, Comparable {
        case none, deadEnd, forged, refused, limit

        static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }
    }

    let failure: TrustFailure
    let chain: [TrustCertificate]
    let rank: Rank

    init(_ failure: TrustFailure, chain: [TrustCertificate], rank: Rank) {
        self.failure = failure
        self.chain = chain
        self.rank = rank
    }
}
