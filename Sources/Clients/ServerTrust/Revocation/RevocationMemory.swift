import LinuxSupport

/// What responders and authorities have said and may be said again.
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
        /// Whose signature was good; those that were not are not many.
        var signatures: RecentValues<SignatureKey, Bool>
        /// By URL.
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

    /// What a responder has said and still says at the question's time.
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
        // An older response that is still good, stapled by somebody who would like it so, must not bury a newer one.
        if let known = self.answer(to: question), known.record != nil, answer.record == nil { return }
        let key = Self.key(question)
        state.withLock { $0.answers.insert(answer, for: key) }
    }

    /// The list last fetched from a URL, good or not: it is judged again.
    func list(from url: String) -> RevocationList? {
        state.withLock { $0.lists[url] }
    }

    func remember(_ list: RevocationList, from url: String) {
        state.withLock { $0.lists.insert(list, for: url) }
    }

    /// What was wrong with a responder or list that need not be asked again yet.
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

    /// Checks the signature of a list once.
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
