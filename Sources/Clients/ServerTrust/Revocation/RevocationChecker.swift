import X509

/// Asks OCSP responders and certificate revocation lists about every certificate of a chain but the anchor, and remembers what they
/// say until they say that there will be something newer. Share one among all handshakes; any thread may use it.
///
/// | Asked | By ``knownStatus(of:in:flags:)`` | By ``status(of:in:flags:)`` |
/// |---|---|---|
/// | the stapled response, for the server's own certificate | yes | yes |
/// | answers of responders that are remembered | yes | yes |
/// | lists that were given, or are remembered | yes | yes |
/// | the responders a certificate names (authorityInfoAccess) | no | yes |
/// | lists at the given URLs, and those a certificate names (cRLDistributionPoints) | no | yes |
///
/// One source that is allowed by the flags and says revoked is enough, whatever others say. Otherwise the preferred kind is asked
/// first, what is at hand before what must be fetched, and the first that says good is believed. A statement that a certificate was
/// taken back counts however old it is, unless it is only on hold; one that it is good counts until its nextUpdate.
public final class RevocationChecker: RevocationChecking {
    /// Has nothing but what comes with the handshake, and remembers nothing.
    static let offline: RevocationChecker = {
        var settings = RevocationSettings()
        settings.cachedAnswers = 0
        return RevocationChecker(settings: settings)
    }()

    let fetcher: (any RevocationFetching)?
    let lists: [RevocationList]
    let listURLs: [String]
    let settings: RevocationSettings
    let memory: RevocationMemory
    let flights: FetchFlights
    let makeNonce: @Sendable () -> [UInt8]
    /// For the pause after a failure, which has nothing to do with the time that certificates are judged for.
    let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameters:
    ///   - fetcher: Without one nobody is asked over the network, as with ``RevocationFlags/networkAccessDisabled``.
    ///   - lists: For the certificates of their issuers. Read them again and make another checker before they expire.
    ///   - listURLs: Where more lists are, for authorities whose certificates do not name them; asked before those that a
    ///     certificate names.
    ///   - settings: Limits.
    public convenience init(
        fetcher: (any RevocationFetching)? = nil,
        lists: [RevocationList] = [],
        listURLs: [String] = [],
        settings: RevocationSettings = RevocationSettings()
    ) {
        self.init(
            fetcher: fetcher,
            lists: lists,
            listURLs: listURLs,
            settings: settings,
            sleep: { try await Task.sleep(for: $0) },
            makeNonce: {
                var chance = SystemRandomNumberGenerator()
                return (0..<OCSPRequest.nonceLength).map { _ in .random(in: .min ... .max, using: &chance) }
            }
        )
    }

    /// With time and chance of the tests'.
    init(
        fetcher: (any RevocationFetching)?,
        lists: [RevocationList],
        listURLs: [String],
        settings: RevocationSettings,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        makeNonce: @escaping @Sendable () -> [UInt8],
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.fetcher = fetcher
        self.lists = lists
        self.listURLs = listURLs
        self.settings = settings
        memory = RevocationMemory(settings)
        flights = FetchFlights(sleep: sleep)
        self.makeNonce = makeNonce
        self.now = now
    }

    /// How many answers of responders are remembered.
    public var cachedAnswers: Int { memory.answerCount }

    /// How many fetched lists are remembered.
    public var cachedLists: Int { memory.listCount }

    /// Forgets everything.
    public func removeAll() {
        memory.removeAll()
    }

    /// What is at hand, at once.
    public func knownStatus(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) -> RevocationStatus {
        let questions = RevocationQuestion.all(about: chain, in: trust)
        return Self.status(questions.map { ($0.certificate, knownFinding($0, flags)) })
    }

    /// What is at hand, and what others say; unknown, with ``RevocationProblem/cancelled``, if the task is cancelled.
    ///
    /// All certificates are asked about at once, the sources of one beside each other, each after the head start
    /// of the one before it (``RevocationSettings/headStart``), and all is over after ``RevocationSettings/timeLimit``.
    public func status(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) async -> RevocationStatus {
        Self.status(await findings(of: chain, in: trust, flags: flags))
    }

    /// The same of each certificate; those that need not be looked at, since another is revoked, are left out.
    package func findings(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) async -> [(TrustCertificate, RevocationFinding)] {
        let questions = RevocationQuestion.all(about: chain, in: trust)
        let known = questions.map { settledFinding($0, flags) }
        // What is remembered answers most handshakes, and needs no tasks.
        guard known.contains(where: { $0 == nil }), !known.contains(where: { $0?.isRevoked ?? false }) else {
            return zip(questions, known).compactMap { pair in pair.1.map { (pair.0.certificate, $0) } }
        }
        let findings = await withTaskGroup(of: (Int, RevocationFinding).self) { group in
            for (index, question) in questions.enumerated() {
                group.addTask { (index, await self.finding(question, flags)) }
            }
            return await group.reduce(into: [Int: RevocationFinding]()) { $0[$1.0] = $1.1 }
        }
        return questions.enumerated().map { ($1.certificate, findings[$0] ?? .unknown([])) }
    }

    /// Revoked if one is; else unknown if one is, the server's own first.
    package static func status(_ findings: [(TrustCertificate, RevocationFinding)]) -> RevocationStatus {
        for case (let certificate, .revoked(let record)) in findings { return .revoked(certificate, detail: record) }
        for case (let certificate, .unknown(let obstacles)) in findings {
            return .unknown(certificate, detail: RevocationDoubt(obstacles))
        }
        return .good
    }
}

extension RevocationChecker {
    /// Whom to ask.
    private struct Source: Sendable {
        let method: RevocationMethod
        let url: String

        var name: RevocationSource { method == .ocsp ? .responder(url: url) : .list(url) }
    }

    private enum Step: Sendable {
        case answered(Int, RevocationFinding)
        case headStartIsOver(Int)
    }

    /// All that can be known of one certificate.
    func finding(_ question: RevocationQuestion, _ flags: RevocationFlags) async -> RevocationFinding {
        let known = flags.methods.map { findingAtHand(question, $0) }
        if let revoked = known.first(where: \.isRevoked) { return revoked }
        var obstacles: [RevocationObstacle] = []
        var asked: [Source] = []
        for (method, finding) in zip(flags.methods, known) {
            guard case .unknown(let more) = finding else {
                // Good, if those that are preferred to it do not say otherwise.
                let answer = await answer(of: asked, question, &obstacles)
                if case .unknown = answer { return finding }
                return answer
            }
            obstacles += more
            let sources = sources(question, method)
            guard !sources.isEmpty else { continue }
            if let problem = unasked(flags) {
                if !obstacles.contains(RevocationObstacle(problem)) { obstacles.append(RevocationObstacle(problem)) }
            } else {
                for source in sources.map({ Source(method: method, url: $0) }) {
                    guard let problem = recentFailure(of: source.url, flags) else { asked.append(source); continue }
                    obstacles.append(RevocationObstacle(problem, from: source.name))
                }
            }
        }
        return await answer(of: asked, question, &obstacles)
    }

    /// The first of the sources that knows; else what each of them lacked.
    private func answer(
        of sources: [Source],
        _ question: RevocationQuestion,
        _ obstacles: inout [RevocationObstacle]
    ) async -> RevocationFinding {
        var lacks = Array(repeating: [RevocationObstacle](), count: sources.count)
        let answer = await withTaskGroup(of: Step.self) { group in
            var next = 0
            var waiting = 0
            var mayStart = true
            while true {
                if mayStart, next < sources.count {
                    let index = next
                    group.addTask { .answered(index, await self.ask(sources[index], at: index, question)) }
                    group.addTask {
                        try? await self.flights.sleep(self.settings.headStart)
                        return .headStartIsOver(index)
                    }
                    next += 1
                    waiting += 1
                    mayStart = false
                }
                guard waiting > 0, let step = await group.next() else { break }
                switch step {
                case .answered(let index, .unknown(let more)):
                    lacks[index] = more
                    waiting -= 1
                    if index == next - 1 { mayStart = true }
                case .answered(_, let finding):
                    group.cancelAll()
                    return finding as RevocationFinding?
                case .headStartIsOver(let index):
                    if index == next - 1 { mayStart = true }
                }
            }
            group.cancelAll()
            return nil
        }
        // A list that is at hand but of no use has been told of.
        for lack in lacks.joined() where !obstacles.contains(lack) { obstacles.append(lack) }
        return answer ?? .unknown(obstacles)
    }

    /// All are over at the same time, however late they have begun.
    private func ask(_ source: Source, at index: Int, _ question: RevocationQuestion) async -> RevocationFinding {
        let least = min(settings.headStart, settings.timeLimit)
        let limit = max(least, settings.timeLimit - settings.headStart * index)
        return await source.method == .ocsp
            ? askResponder(source.url, question, limit) : askList(source.url, question, limit)
    }

    private func askResponder(
        _ url: String,
        _ question: RevocationQuestion,
        _ limit: Duration
    ) async -> RevocationFinding {
        let source = RevocationSource.responder(url: url)
        let key = FetchKey(url: url, certificate: question.certificate, issuer: question.issuer.publicKey)
        let outcome = await flights.outcome(key, limit: limit) { [self] in
            let nonce = settings.usesNonce ? makeNonce() : nil
            let request = OCSPRequest(id: OCSPCertificateID(of: question, digest: .sha1), nonce: nonce)
            guard let body = try? request.encoded() else { return .failed(.malformed("the question")) }
            return await fetched(.ocsp(url, body, settings)) { .response($0, nonce: nonce) }
        }
        remember(outcome, of: url)
        switch outcome {
        case .response(let response, let nonce):
            return finding(response, nonce: nonce, about: question, from: source)
        case .failed(let problem):
            return .unknown([RevocationObstacle(problem, from: source)])
        case .list:
            return .unknown([])
        }
    }

    private func askList(_ url: String, _ question: RevocationQuestion, _ limit: Duration) async -> RevocationFinding {
        if let known = memory.list(from: url), known.content.issuer != question.certificate.x509.issuer,
            let nextUpdate = known.nextUpdate, question.time <= nextUpdate
        {
            // It would be the same one again.
            return .unknown([RevocationObstacle(.otherIssuer, from: .list(url))])
        }
        let key = FetchKey(url: url, certificate: nil, issuer: nil)
        let outcome = await flights.outcome(key, limit: limit) { [self] in
            await fetched(.list(url, settings)) { bytes in
                do throws(RevocationProblem) {
                    return .list(try RevocationList(bytes: bytes, name: url))
                } catch {
                    return .failed(error)
                }
            }
        }
        remember(outcome, of: url)
        switch outcome {
        case .list(let list):
            do throws(RevocationProblem) {
                let answer = try answer(list, about: question)
                if answer.validity != nil, list.nextUpdate != nil { memory.remember(list, from: url) }
                return answer.finding
            } catch {
                return .unknown([RevocationObstacle(error, from: .list(url))])
            }
        case .failed(let problem):
            return .unknown([RevocationObstacle(problem, from: .list(url))])
        case .response:
            return .unknown([])
        }
    }

    /// Why a source did not answer a moment ago, and is not asked: where no answer is required it would only be waited for again.
    private func recentFailure(of url: String, _ flags: RevocationFlags) -> RevocationProblem? {
        guard !flags.contains(.requirePositiveResponse) else { return nil }
        return memory.failure(of: url, at: now())
    }

    private func remember(_ outcome: FetchOutcome, of url: String) {
        switch outcome {
        // Says nothing of the source.
        case .failed(.cancelled), .failed(.noFetcher): return
        case .failed(let problem): memory.remember(problem, of: url, until: now() + settings.pauseAfterFailure)
        case .response, .list: memory.forgetFailure(of: url)
        }
    }

    private func fetched(
        _ request: RevocationRequest,
        _ read: ([UInt8]) -> FetchOutcome
    ) async -> FetchOutcome {
        guard let fetcher else { return .failed(.noFetcher) }
        do {
            let bytes = try await fetcher.fetch(request)
            guard bytes.count <= request.sizeLimit else { return .failed(.tooLarge(limit: request.sizeLimit)) }
            return read(bytes)
        } catch {
            return .failed(error.problem(request))
        }
    }
}
