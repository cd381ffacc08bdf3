import Dispatch
import LinuxSupport
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

/// How far signatures lead from the server's certificate, without times or names.
///
/// For pinning without validation. TLS proves that the peer holds the key of its own certificate, and of none other it sends: anybody
/// can send along the pinned certificate of somebody else. So only what has signed the server's certificate counts, link by link,
/// and only authorities. Anchors that were not sent count too if they have signed, as on other systems.
enum LinkedChain {
    /// The server's certificate first, then those nearest to it. More than one chain where authorities are cross-signed: what has signed
    /// has signed, by whichever way.
    static func certificates(of trust: ServerTrust, budget: EvaluationBudget) throws(TrustFailure) -> [TrustCertificate]
    {
        guard let leaf = trust.certificates.first else { return [] }
        let anchors = trust.anchors.index
        let constraints = AuthorityPolicy()
        var signatures = SignatureLedger(budget)
        // Each certificate once, with the way it was first found by, so that a maze of authorities ends.
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

/// How much one evaluation may still do. Who sends certificates decides how much there is to do, so there is an end to it, which
/// ``TrustRequirements`` sets; and a task that was cancelled does nothing more.
///
/// What is over the limit is refused: whoever gets an error from here passes it on.
final class EvaluationBudget: Sendable {
    /// What has been done.
    struct Work: Hashable, Sendable {
        /// Certificates tried as issuers of others.
        var steps = 0
        /// Signatures checked.
        var signatures = 0
        /// Names compared with constraints.
        var comparisons = 0
    }

    private let limits: TrustRequirements
    private let work = Locked(Work())

    init(_ limits: TrustRequirements) {
        self.limits = limits
    }

    var spent: Work { work.withLock { $0 } }

    /// Before a certificate is tried as the issuer of another.
    func spendStep() throws(TrustFailure) {
        try spend(1, \.steps, limit: limits.maximumPathSteps) { "more than \($0) certificates to try as issuers" }
    }

    /// Before a signature is checked.
    func spendSignature() throws(TrustFailure) {
        try spend(1, \.signatures, limit: limits.maximumSignatureChecks) { "more than \($0) signatures to check" }
    }

    /// Before so many names are compared with a constraint each.
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

/// Judges one server away from the threads of Swift's tasks, of which there are as few as processors: what a stranger sends may take its
/// time, and evaluators of users may block. For one task alone, so nobody waits for another's.
///
/// Source: SE-0417.
package final class JudgingExecutor: TaskExecutor {
    // A serial queue has a thread of its own while it has work.
    private let queue = DispatchQueue(label: "ServerTrust.judging")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Which signatures have been checked in one search: each is checked once.
struct SignatureLedger {
    private struct Question: Hashable {
        let certificate: TrustCertificate
        let issuer: TrustCertificate
    }

    private var answers: [Question: Bool] = [:]
    private let budget: EvaluationBudget

    init(_ budget: EvaluationBudget) {
        self.budget = budget
    }

    /// Whether the issuer's key has made the certificate's signature. Throws when no more may be done.
    mutating func isSigned(
        _ certificate: TrustCertificate,
        by issuer: TrustCertificate
    ) throws(TrustFailure) -> Bool {
        let question = Question(certificate: certificate, issuer: issuer)
        if let answer = answers[question] { return answer }
        try budget.spendSignature()
        let answer = certificate.isSigned(by: issuer)
        answers[question] = answer
        return answer
    }
}
