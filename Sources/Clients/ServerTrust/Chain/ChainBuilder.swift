import Dispatch
import LinuxSupport
import X509

/// A builder of chains from a server's certificate to an anchor (RFC 4158; RFC 5280, 6).
///
/// The search is depth first. It tries anchors before certificates that the peer sent, and likely issuers before
/// unlikely ones. It verifies each signature before it continues.
///
/// The verifier of swift-certificates has no limits, is asynchronous, and reports reasons as text. Evaluations here are
/// synchronous, stay within ``TrustRequirements``, and report typed reasons.
struct ChainBuilder {
    private let anchors: AnchorIndex
    private let intermediates: [TrustCertificate]
    private let policies: [any TrustPolicy]
    private let time: TrustTime
    private let requirements: TrustRequirements
    private let budget: EvaluationBudget

    private var signatures: SignatureCache
    private var reported: ChainFailure?

    init(_ trust: ServerTrust, policies: [any TrustPolicy], budget: EvaluationBudget) {
        anchors = trust.anchors.index
        // Duplicates would be tried twice.
        var seen: Set<TrustCertificate> = []
        intermediates = trust.certificates.dropFirst().filter { seen.insert($0).inserted }
        self.policies = policies
        time = trust.time
        requirements = trust.requirements
        self.budget = budget
        signatures = SignatureCache(budget)
    }

    /// Returns the first chain that passes all policies.
    mutating func build(from leaf: TrustCertificate) throws(ChainFailure) -> ValidatedChain {
        if let problem = anchors.problem {
            throw ChainFailure(failure: .noAnchors(problem), chain: [leaf], rank: .limit)
        }
        do {
            if anchors.contains(leaf), let chain = try accepted([leaf]) { return chain }
            if let chain = try extend([leaf]) { return chain }
        } catch {
            throw ChainFailure(failure: error, chain: [leaf], rank: .limit)
        }
        throw reported ?? ChainFailure(failure: Self.deadEnd([leaf]), chain: [leaf], rank: .deadEnd)
    }

    /// Returns a complete chain that begins with `path`; nil if no such chain exists.
    ///
    /// - Throws: ``TrustFailure`` if a limit is exceeded or the task is cancelled.
    private mutating func extend(_ path: [TrustCertificate]) throws(TrustFailure) -> ValidatedChain? {
        let tip = path[path.count - 1]
        guard path.count < requirements.maximumChainLength else {
            note(.tooComplex("it would have more than \(path.count) certificates"), path, .limit)
            return nil
        }
        var isForged = false
        let sent = intermediates.filter { $0.x509.subject == tip.x509.issuer }
        let candidates =
            ranked(anchors.issuers(of: tip), for: tip).map { (issuer: $0, isAnchor: true) }
            + ranked(sent, for: tip).map { (issuer: $0, isAnchor: false) }
        for (issuer, isAnchor) in candidates where !Self.contains(path, issuer) {
            try budget.spendStep()
            guard try signatures.isSigned(tip, by: issuer) else { isForged = true; continue }
            let longer = path + [issuer]
            if let chain = try isAnchor ? accepted(longer) : extend(longer) { return chain }
        }
        if isForged {
            note(.badSignature(subject: tip.description), path, .forged)
        } else {
            note(Self.deadEnd(path), path, .deadEnd)
        }
        return nil
    }

    /// Returns the chain if it passes all policies. Otherwise records the first failure and returns nil.
    private mutating func accepted(_ chain: [TrustCertificate]) throws(TrustFailure) -> ValidatedChain? {
        for policy in policies {
            do {
                try policy.check(chain, at: time)
            } catch {
                switch error {
                // A limit that this chain exceeds would also end the search for another chain.
                case .tooComplex, .cancelled: throw error
                default: note(error, chain, .refused)
                }
                return nil
            }
        }
        return ValidatedChain(chain, at: time)
    }

    private mutating func note(_ failure: TrustFailure, _ chain: [TrustCertificate], _ rank: ChainFailure.Rank) {
        guard rank > reported?.rank ?? .none else { return }
        reported = ChainFailure(failure: failure, chain: chain, rank: rank)
    }

    /// Sorts candidate issuers: by key identifier (equal, unknown, different), then by whether they are valid now.
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

    /// Returns whether the path already contains the name and key of a certificate. Such a certificate cannot lead to a
    /// new chain (RFC 4158, 5.2).
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

/// The reason why no chain was accepted, and the certificates of the attempt.
struct ChainFailure: Error {
    /// The priority of a failure: the failure with the highest rank is reported. A complete chain that a policy refused
    /// explains more than an incomplete chain. If a limit ended the search, the limit is the reason.
    enum Rank: Int, Comparable {
        case none, deadEnd, forged, refused, limit

        static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }
    }

    let failure: TrustFailure
    let chain: [TrustCertificate]
    let rank: Rank
}

/// The certificates that are linked to the server's certificate by signatures, regardless of times and names.
///
/// This is used for pinning without chain validation. TLS proves that the peer has the key of its own certificate. It
/// does not prove this for other certificates, so any peer can send the pinned certificate of another server. A pin
/// therefore counts only on the server's certificate, and on authorities that signed it directly or indirectly. Anchors
/// that the peer did not send are included too, as on other systems.
enum LinkedChain {
    /// Returns the server's certificate, then the linked authorities, the nearest first. If authorities are
    /// cross-signed, the result contains the authorities of all chains.
    static func certificates(of trust: ServerTrust, budget: EvaluationBudget) throws(TrustFailure) -> [TrustCertificate]
    {
        guard let leaf = trust.certificates.first else { return [] }
        let anchors = trust.anchors.index
        let constraints = AuthorityPolicy()
        var signatures = SignatureCache(budget)
        // Each certificate is visited once, with the path it was first found on, so that the search ends even if
        // authorities sign each other.
        var ways = [[leaf]]
        var found: Set = [leaf]
        var next = 0
        while next < ways.count {
            let way = ways[next]
            next += 1
            guard way.count < trust.requirements.maximumChainLength else { continue }
            let tip = way[way.count - 1]
            let sent = trust.certificates.filter { $0.x509.subject == tip.x509.issuer && $0.isAuthority }
            for issuer in sent + anchors.issuers(of: tip) where !found.contains(issuer) {
                try budget.spendStep()
                guard (try? constraints.check(way + [issuer], at: trust.time)) != nil,
                    try signatures.isSigned(tip, by: issuer)
                else { continue }
                found.insert(issuer)
                ways.append(way + [issuer])
            }
        }
        return ways.map { $0[$0.count - 1] }
    }
}

/// The remaining work of one evaluation, as limited by ``TrustRequirements``. It prevents a peer from causing unlimited
/// work with the certificates it sends. A cancelled task also ends the work. Thread-safe.
///
/// The methods throw if a limit is exceeded. The caller must pass the error on.
final class EvaluationBudget: Sendable {
    /// The work that was done.
    struct Work: Hashable, Sendable {
        /// The number of certificates that were tried as an issuer.
        var steps = 0
        /// The number of signatures that were verified.
        var signatures = 0
        /// The number of comparisons of a name with a constraint.
        var comparisons = 0
    }

    private let limits: TrustRequirements
    private let work = Locked(Work())

    init(_ limits: TrustRequirements) {
        self.limits = limits
    }

    var spent: Work { work.withLock { $0 } }

    /// Counts one certificate. Call it before the certificate is tried as an issuer.
    func spendStep() throws(TrustFailure) {
        try spend(1, \.steps, limit: limits.maximumPathSteps) { "more than \($0) certificates to try as issuers" }
    }

    /// Counts one signature. Call it before the signature is verified.
    func spendSignature() throws(TrustFailure) {
        try spend(1, \.signatures, limit: limits.maximumSignatureChecks) { "more than \($0) signatures to check" }
    }

    /// Counts comparisons. Call it before `count` pairs of a name and a constraint are compared.
    func spendComparisons(_ count: Int) throws(TrustFailure) {
        try spend(count, \.comparisons, limit: limits.maximumNameComparisons) {
            "more than \($0) comparisons of names with name constraints"
        }
    }

    private func spend(
        _ count: Int,
        _ kind: any WritableKeyPath<Work, Int> & Sendable,
        limit: Int,
        _ problem: (Int) -> String
    ) throws(TrustFailure) {
        guard !Task.isCancelled else { throw .cancelled }
        let isWithin = work.withLock { work in
            guard count <= limit - work[keyPath: kind] else { return false }
            work[keyPath: kind] += count
            return true
        }
        guard isWithin else { throw .tooComplex(problem(limit)) }
    }
}

/// An executor that evaluates one server on a separate thread. Swift's tasks share as many threads as there are
/// processors, but certificates of an unknown server may take long to verify, and custom evaluators may block. Each
/// evaluation has its own executor, so that evaluations do not wait for each other.
package final class EvaluationExecutor: TaskExecutor {
    // A serial queue occupies one thread while it has work.
    private let queue = DispatchQueue(label: "ServerTrust.evaluation")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// The signatures that one search has verified. Each signature is verified once.
struct SignatureCache {
    /// The results, by the certificate and its issuer.
    private var known: [[TrustCertificate]: Bool] = [:]
    private let budget: EvaluationBudget

    init(_ budget: EvaluationBudget) {
        self.budget = budget
    }

    /// Returns whether the issuer's key signed the certificate.
    ///
    /// - Throws: ``TrustFailure`` if the maximum number of signatures is exceeded or the task is cancelled.
    mutating func isSigned(
        _ certificate: TrustCertificate,
        by issuer: TrustCertificate
    ) throws(TrustFailure) -> Bool {
        if let isSigned = known[[certificate, issuer]] { return isSigned }
        try budget.spendSignature()
        let isSigned = certificate.isSigned(by: issuer)
        known[[certificate, issuer]] = isSigned
        return isSigned
    }
}
