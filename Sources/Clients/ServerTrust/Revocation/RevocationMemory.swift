import LinuxSupport
import X509

/// A cache of responses, lists, verified signatures and failures. Thread-safe.
final class RevocationMemory: Sendable {
    private struct AnswerKey: Hashable {
        let certificate: TrustCertificate
        let issuer: ServerPublicKey
        let allowsSHA1: Bool
    }

    private struct SignatureKey: Hashable {
        let list: [UInt8]
        let issuer: ServerPublicKey
        let allowsSHA1: Bool
    }

    private struct Failure {
        let problem: RevocationProblem
        let end: ContinuousClock.Instant
    }

    private struct State {
        var answers: RecentValues<AnswerKey, RevocationAnswer>
        var lists: RecentValues<String, RevocationList>
        /// The lists with a valid signature. Invalid signatures are not cached, because they are rare.
        var signatures: RecentValues<SignatureKey, Bool>
        /// The failures by URL.
        var failures = RecentValues<String, Failure>(capacity: 256)
    }

    private let state: Locked<State>

    init(_ settings: RevocationSettings) {
        state = Locked(
            State(
                answers: RecentValues(capacity: max(0, settings.cachedAnswers)),
                lists: RecentValues(capacity: max(0, settings.cachedLists)),
                signatures: RecentValues(capacity: 256)
            )
        )
    }

    var answerCount: Int { state.withLock { $0.answers.count } }

    var listCount: Int { state.withLock { $0.lists.count } }

    func removeAll() {
        state.withLock { state in
            state.answers.removeAll()
            state.lists.removeAll()
            state.signatures.removeAll()
            state.failures.removeAll()
        }
    }

    /// Returns the cached response that is valid at the time of the query; nil if no response is cached.
    func answer(to question: RevocationQuestion) -> RevocationAnswer? {
        let key = Self.key(question)
        return state.withLock { state in
            guard let answer = state.answers[key] else { return nil }
            guard answer.validity?.contains(question.time) == true else {
                state.answers.remove(key)
                return nil
            }
            return answer
        }
    }

    func remember(_ answer: RevocationAnswer, to question: RevocationQuestion) {
        guard answer.validity?.contains(question.time) == true else { return }
        // An attacker may staple an older, still valid good response. It must not replace a cached revocation.
        if let known = self.answer(to: question), known.record != nil, answer.record == nil { return }
        let key = Self.key(question)
        state.withLock { $0.answers.insert(answer, for: key) }
    }

    /// Returns the list that was last fetched from a URL. The caller verifies it again.
    func list(from url: String) -> RevocationList? {
        state.withLock { $0.lists[url] }
    }

    func remember(_ list: RevocationList, from url: String) {
        state.withLock { $0.lists.insert(list, for: url) }
    }

    /// Returns the failure of a responder or list that is not queried again yet; nil if it may be queried.
    func failure(of url: String, at now: ContinuousClock.Instant) -> RevocationProblem? {
        state.withLock { state in
            guard let failure = state.failures[url] else { return nil }
            guard now < failure.end else {
                state.failures.remove(url)
                return nil
            }
            return failure.problem
        }
    }

    func remember(_ problem: RevocationProblem, of url: String, until end: ContinuousClock.Instant) {
        state.withLock { $0.failures.insert(Failure(problem: problem, end: end), for: url) }
    }

    func forgetFailure(of url: String) {
        state.withLock { $0.failures.remove(url) }
    }

    /// Verifies the signature of a list. A valid signature is verified once.
    func check(_ list: RevocationList, _ question: RevocationQuestion) throws(RevocationProblem) {
        let key = SignatureKey(
            list: list.content.fingerprint,
            issuer: question.issuer.publicKey,
            allowsSHA1: question.allowsSHA1
        )
        guard state.withLock({ $0.signatures[key] }) == nil else { return }
        try list.content.signed.check(by: question.issuer, allowsSHA1: question.allowsSHA1)
        state.withLock { $0.signatures.insert(true, for: key) }
    }

    private static func key(_ question: RevocationQuestion) -> AnswerKey {
        AnswerKey(
            certificate: question.certificate,
            issuer: question.issuer.publicKey,
            allowsSHA1: question.allowsSHA1
        )
    }
}

/// The record of a revocation: its time, reason and source.
public struct RevocationRecord: Hashable, Sendable {
    /// The time of the revocation; nil if the source does not contain it.
    public let time: TrustTime?

    /// The reason of the revocation; nil if the source does not contain one.
    public let reason: RevocationReason?

    /// The source of the record.
    public let source: RevocationSource

    /// Creates a record. Custom checkers use it.
    public init(time: TrustTime? = nil, reason: RevocationReason? = nil, source: RevocationSource) {
        self.time = time
        self.reason = reason
        self.source = source
    }
}

extension RevocationRecord: CustomStringConvertible {
    /// The record as text, for example `since 2026-03-01T00:00:00Z, keyCompromise, according to the stapled response`.
    public var description: String {
        [time.map { "since \($0)" }, reason?.description, "according to \(source)"].compactMap { $0 }
            .joined(separator: ", ")
    }
}

extension RevocationChecker {
    /// Returns the status of one certificate from local and cached data.
    func knownFinding(_ question: RevocationQuestion, _ flags: RevocationFlags) -> RevocationFinding {
        let methods = flags.methods
        let findings = methods.map { findingAtHand(question, $0) }
        var obstacles: [RevocationObstacle] = []
        if let revoked = findings.first(where: \.isRevoked) { return revoked }
        for (method, finding) in zip(methods, findings) {
            guard case .unknown(let more) = finding else { return finding }
            obstacles += more
            guard !sources(question, method).isEmpty else { continue }
            let problem = unasked(flags) ?? .wouldWait
            if !obstacles.contains(RevocationObstacle(problem)) { obstacles.append(RevocationObstacle(problem)) }
        }
        return .unknown(obstacles)
    }

    /// Returns the status of one certificate if no query is needed; nil otherwise.
    func settledFinding(_ question: RevocationQuestion, _ flags: RevocationFlags) -> RevocationFinding? {
        let findings = flags.methods.map { findingAtHand(question, $0) }
        if let revoked = findings.first(where: \.isRevoked) { return revoked }
        return findings.first == .good ? .good : nil
    }

    /// Returns the status according to one method, from local and cached data.
    func findingAtHand(_ question: RevocationQuestion, _ method: RevocationMethod) -> RevocationFinding {
        var obstacles: [RevocationObstacle] = []
        var isGood = false
        switch method {
        case .ocsp:
            if let response = question.stapledResponse {
                switch finding(response, nonce: nil, about: question, from: .stapledResponse) {
                case .good: isGood = true
                case .revoked(let record): return .revoked(record)
                case .unknown(let more): obstacles += more
                }
            }
            // The cache is read even after a good stapled response, because it may have a newer response with another
            // status.
            if let answer = memory.answer(to: question) {
                if let record = answer.record { return .revoked(record) }
                isGood = true
            }
        case .lists:
            for list in lists(about: question) {
                switch finding(list, about: question) {
                case .good: isGood = true
                case .revoked(let record): return .revoked(record)
                case .unknown(let more): obstacles += more
                }
            }
        }
        return isGood ? .good : .unknown(obstacles)
    }

    /// Evaluates a response, and caches it if possible.
    func finding(
        _ response: [UInt8],
        nonce: [UInt8]?,
        about question: RevocationQuestion,
        from source: RevocationSource
    ) -> RevocationFinding {
        do {
            let judge = OCSPJudge(question: question, settings: settings) { responder in
                self.findingAtHand(responder, .lists).isRevoked
            }
            let answer = try judge.answer(response, nonce: nonce, from: source)
            memory.remember(answer, to: question)
            return answer.finding
        } catch {
            return .unknown([RevocationObstacle(error, from: source)])
        }
    }

    /// Evaluates a list.
    func finding(_ list: RevocationList, about question: RevocationQuestion) -> RevocationFinding {
        do {
            return try answer(list, about: question).finding
        } catch {
            return .unknown([RevocationObstacle(error, from: .list(list.name))])
        }
    }

    func answer(
        _ list: RevocationList,
        about question: RevocationQuestion
    ) throws(RevocationProblem) -> RevocationAnswer {
        let memory = memory
        return try RevocationListJudge(question: question, settings: settings) {
            (list, question) throws(RevocationProblem) in try memory.check(list, question)
        }.answer(list)
    }

    /// Returns the reason why no queries may be sent; nil if they may.
    func unasked(_ flags: RevocationFlags) -> RevocationProblem? {
        if flags.contains(.networkAccessDisabled) { return .networkAccessDisabled }
        return fetcher == nil ? .noFetcher : nil
    }

    /// Returns the URLs to query for a certificate.
    func sources(_ question: RevocationQuestion, _ method: RevocationMethod) -> [String] {
        switch method {
        case .ocsp:
            Array(RevocationURL.responders(of: question.certificate).prefix(max(0, settings.maximumSources)))
        case .lists:
            listURLs + DistributionPoint.locations(in: question.certificate).prefix(max(0, settings.maximumSources))
        }
    }

    /// Returns the local lists of the certificate's issuer. Lists of other issuers are not reported as a problem.
    private func lists(about question: RevocationQuestion) -> [RevocationList] {
        let issuer = question.certificate.x509.issuer
        let fetched = sources(question, .lists).compactMap { memory.list(from: $0) }
        return (question.lists + lists + fetched).filter { $0.content.issuer == issuer }
    }
}
