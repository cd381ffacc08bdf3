import LinuxSupport
import X509

/// A cache of responses, lists, verified signatures and failures. Thread-safe.
final class RevocationMemory: Sendable {
    /// The identity of signed data. Its status depends on the issuer's key and on the permitted algorithms.
    private struct Key<Subject: Hashable & Sendable>: Hashable, Sendable {
        let subject: Subject
        let issuer: ServerPublicKey
        let allowsSHA1: Bool

        init(_ subject: Subject, _ question: RevocationQuestion) {
            (self.subject, issuer) = (subject, question.issuer.publicKey)
            allowsSHA1 = question.allowsSHA1
        }
    }

    private struct Failure {
        let problem: RevocationProblem
        let end: ContinuousClock.Instant
    }

    private struct State {
        var answers: RecentValues<Key<TrustCertificate>, RevocationAnswer>
        var lists: RecentValues<String, RevocationList>
        /// The lists with a valid signature, by fingerprint. Invalid signatures are not cached, because they are rare.
        var signatures = RecentValues<Key<[UInt8]>, Bool>(capacity: 256)
        /// The failures by URL.
        var failures = RecentValues<String, Failure>(capacity: 256)

        init(_ settings: RevocationSettings) {
            answers = RecentValues(capacity: settings.cachedAnswers)
            lists = RecentValues(capacity: settings.cachedLists)
        }
    }

    private let settings: RevocationSettings
    private let state: Locked<State>

    init(_ settings: RevocationSettings) {
        self.settings = settings
        state = Locked(State(settings))
    }

    var answerCount: Int { state.withLock { $0.answers.count } }

    var listCount: Int { state.withLock { $0.lists.count } }

    func removeAll() {
        state.withLock { $0 = State(settings) }
    }

    /// Returns the cached response that is valid at the time of the query; nil if no response is cached.
    func answer(to question: RevocationQuestion) -> RevocationAnswer? {
        let key = Key(question.certificate, question)
        return state.withLock { state in
            guard let answer = state.answers[key] else { return nil }
            guard answer.validity?.contains(question.time) == true else {
                state.answers[key] = nil
                return nil
            }
            return answer
        }
    }

    func remember(_ answer: RevocationAnswer, to question: RevocationQuestion) {
        guard answer.validity?.contains(question.time) == true else { return }
        // An attacker may staple an older, still valid good response. It must not replace a cached revocation.
        if let known = self.answer(to: question), known.record != nil, answer.record == nil { return }
        let key = Key(question.certificate, question)
        state.withLock { $0.answers[key] = answer }
    }

    /// Returns the list that was last fetched from a URL. The caller verifies it again.
    func list(from url: String) -> RevocationList? {
        state.withLock { $0.lists[url] }
    }

    func remember(_ list: RevocationList, from url: String) {
        state.withLock { $0.lists[url] = list }
    }

    /// Returns the failure of a responder or list that is not queried again yet; nil if it may be queried.
    func failure(of url: String, at now: ContinuousClock.Instant) -> RevocationProblem? {
        state.withLock { state in
            guard let failure = state.failures[url] else { return nil }
            guard now < failure.end else {
                state.failures[url] = nil
                return nil
            }
            return failure.problem
        }
    }

    func remember(_ problem: RevocationProblem, of url: String, until end: ContinuousClock.Instant) {
        state.withLock { $0.failures[url] = Failure(problem: problem, end: end) }
    }

    func forgetFailure(of url: String) {
        state.withLock { $0.failures[url] = nil }
    }

    /// Verifies the signature of a list. A valid signature is verified once.
    func check(_ list: RevocationList, _ question: RevocationQuestion) throws(RevocationProblem) {
        let key = Key(list.content.fingerprint, question)
        guard state.withLock({ $0.signatures[key] }) == nil else { return }
        try list.content.signed.check(by: question.issuer, allowsSHA1: question.allowsSHA1)
        state.withLock { $0.signatures[key] = true }
    }
}

extension RevocationChecker {
    /// Returns the status of one certificate from local and cached data, and the sources to query for it. If the
    /// evaluation does not wait, there are no such sources.
    func localStatus(
        _ question: RevocationQuestion,
        _ flags: RevocationFlags,
        waits: Bool
    ) -> (finding: RevocationFinding, sources: [QueriedSource]) {
        let methods = flags.methods
        let findings = methods.map { localStatus(question, $0) }
        if let revoked = findings.first(where: \.isRevoked) { return (revoked, []) }
        var obstacles: [RevocationObstacle] = []
        var queried: [QueriedSource] = []
        for (method, finding) in zip(methods, findings) {
            // The certificate is good, unless a preferred source reports it as revoked.
            guard case .unknown(let more) = finding else { return (finding, queried) }
            obstacles += more
            let sources = sources(question, method)
            guard !sources.isEmpty else { continue }
            if let problem = queryRefusal(flags) ?? (waits ? nil : .wouldWait) {
                if !obstacles.contains(RevocationObstacle(problem)) { obstacles.append(RevocationObstacle(problem)) }
                continue
            }
            for source in sources {
                guard let problem = recentFailure(of: source.url, flags) else { queried.append(source); continue }
                obstacles.append(RevocationObstacle(problem, from: source.name))
            }
        }
        return (.unknown(obstacles), queried)
    }

    /// Returns the status according to one method, from local and cached data.
    private func localStatus(_ question: RevocationQuestion, _ method: RevocationMethod) -> RevocationFinding {
        var findings: [RevocationFinding]
        switch method {
        case .ocsp:
            findings = [question.stapledResponse].compactMap { $0 }.map { response in
                Self.finding(.stapledResponse) { () throws(RevocationProblem) in
                    try answer(response, nonce: nil, about: question, from: .stapledResponse)
                }
            }
            // The cache is read even after a good stapled response, because it may have a newer response with another
            // status.
            if let answer = memory.answer(to: question) { findings.append(answer.finding) }
        case .lists:
            findings = lists(about: question).map { list in
                Self.finding(.list(list.name)) { () throws(RevocationProblem) in try answer(list, about: question) }
            }
        }
        return findings.first(where: \.isRevoked)
            ?? (findings.contains(.good) ? .good : .unknown(findings.flatMap(\.obstacles)))
    }

    private static func finding(
        _ source: RevocationSource,
        _ answer: () throws(RevocationProblem) -> RevocationAnswer
    ) -> RevocationFinding {
        do {
            return try answer().finding
        } catch {
            return .unknown([RevocationObstacle(error, from: source)])
        }
    }

    /// Evaluates a response, and caches the status if possible.
    func answer(
        _ response: [UInt8],
        nonce: [UInt8]?,
        about question: RevocationQuestion,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationAnswer {
        let judge = OCSPJudge(question: question, settings: settings) { responder in
            self.localStatus(responder, .lists).isRevoked
        }
        let answer = try judge.answer(response, nonce: nonce, from: source)
        memory.remember(answer, to: question)
        return answer
    }

    /// Returns the reason why no queries may be sent; nil if they may.
    private func queryRefusal(_ flags: RevocationFlags) -> RevocationProblem? {
        if flags.contains(.networkAccessDisabled) { return .networkAccessDisabled }
        return fetcher == nil ? .noFetcher : nil
    }

    /// Returns the sources to query for a certificate.
    private func sources(_ question: RevocationQuestion, _ method: RevocationMethod) -> [QueriedSource] {
        let limit = max(0, settings.maximumSources)
        let urls: [String] =
            switch method {
            case .ocsp: Array(RevocationURL.responders(of: question.certificate).prefix(limit))
            case .lists: listURLs + DistributionPoint.locations(in: question.certificate).prefix(limit)
            }
        return urls.map { QueriedSource(method: method, url: $0) }
    }

    /// Returns the local lists of the certificate's issuer. Lists of other issuers are not reported as a problem.
    private func lists(about question: RevocationQuestion) -> [RevocationList] {
        let issuer = question.certificate.x509.issuer
        let fetched = sources(question, .lists).compactMap { memory.list(from: $0.url) }
        return (question.lists + lists + fetched).filter { $0.content.issuer == issuer }
    }
}
