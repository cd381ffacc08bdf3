import X509

/// A checker that determines whether a certificate of a chain is revoked, with OCSP responders and certificate
/// revocation lists. The anchor is not checked. Results are cached until an update is available. Share one checker
/// among all handshakes. Thread-safe.
///
/// | Source | ``knownStatus(of:in:flags:)`` | ``status(of:in:flags:)`` |
/// |---|---|---|
/// | the stapled response, for the server's certificate | yes | yes |
/// | cached responses of responders | yes | yes |
/// | lists that were given or are cached | yes | yes |
/// | the responders that a certificate names (authorityInfoAccess) | no | yes |
/// | lists at the given URLs, and at those that a certificate names (cRLDistributionPoints) | no | yes |
///
/// If any source that the flags permit reports a certificate as revoked, it is revoked, even if other sources differ.
/// Otherwise the preferred method is used first, and local data before network queries. The first good status is
/// accepted. A revocation counts regardless of its age, except a hold. A good status counts until its nextUpdate.
public final class RevocationChecker: RevocationChecking {
    /// A checker without a fetcher and without a cache of responses.
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
    /// The clock for the pause after a failure, which is independent of the time of the evaluation.
    let now: @Sendable () -> ContinuousClock.Instant

    /// Creates a checker.
    ///
    /// - Parameters:
    ///   - fetcher: The HTTP client for queries. If nil, no queries are sent, as with
    ///     ``RevocationFlags/networkAccessDisabled``.
    ///   - lists: Lists for the certificates of their issuers. Before they expire, read them again and create another
    ///     checker.
    ///   - listURLs: The URLs of further lists, for authorities whose certificates do not name them. They are queried
    ///     before the URLs in a certificate.
    ///   - settings: The time and size limits.
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

    /// Creates a checker with the clock and random numbers of a test.
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

    /// The number of cached responses of responders.
    public var cachedAnswers: Int { memory.answerCount }

    /// The number of cached lists.
    public var cachedLists: Int { memory.listCount }

    /// Removes all cached responses, lists and failures.
    public func removeAll() {
        memory.removeAll()
    }

    /// Returns the status from local and cached data, without waiting.
    public func knownStatus(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) -> RevocationStatus {
        let questions = RevocationQuestion.all(about: chain, in: trust)
        return Self.status(questions.map { ($0.certificate, knownFinding($0, flags)) })
    }

    /// Returns the status from local data, cached data and the network. If the task is cancelled, the status is unknown
    /// with ``RevocationProblem/cancelled``.
    ///
    /// All certificates are checked concurrently. The sources of one certificate are queried in sequence. The next one
    /// starts ``RevocationSettings/headStart`` after the previous one, or as soon as that fails. All queries end within
    /// ``RevocationSettings/timeLimit``.
    public func status(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) async -> RevocationStatus {
        Self.status(await findings(of: chain, in: trust, flags: flags))
    }

    /// Returns the status of each certificate. If one is revoked, others that were not checked are omitted.
    package func findings(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) async -> [(TrustCertificate, RevocationFinding)] {
        let questions = RevocationQuestion.all(about: chain, in: trust)
        let known = questions.map { settledFinding($0, flags) }
        // Cached data is sufficient for most handshakes, which then need no tasks.
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

    /// Combines the status of all certificates: revoked if one is revoked, otherwise unknown if one is unknown. The
    /// server's certificate has priority.
    package static func status(_ findings: [(TrustCertificate, RevocationFinding)]) -> RevocationStatus {
        for case (let certificate, .revoked(let record)) in findings { return .revoked(certificate, detail: record) }
        for case (let certificate, .unknown(let obstacles)) in findings {
            return .unknown(certificate, detail: RevocationDoubt(obstacles))
        }
        return .good
    }
}

extension RevocationChecker {
    /// A source that can be queried over the network.
    private struct Source: Sendable {
        let method: RevocationMethod
        let url: String

        var name: RevocationSource { method == .ocsp ? .responder(url: url) : .list(url) }
    }

    private enum Step: Sendable {
        case answered(Int, RevocationFinding)
        case headStartIsOver(Int)
    }

    /// Returns the status of one certificate. May query the network.
    func finding(_ question: RevocationQuestion, _ flags: RevocationFlags) async -> RevocationFinding {
        let known = flags.methods.map { findingAtHand(question, $0) }
        if let revoked = known.first(where: \.isRevoked) { return revoked }
        var obstacles: [RevocationObstacle] = []
        var asked: [Source] = []
        for (method, finding) in zip(flags.methods, known) {
            guard case .unknown(let more) = finding else {
                // The certificate is good, unless a preferred source reports it as revoked.
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

    /// Queries sources. Returns the first known status; otherwise unknown, with the problem of each source.
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
        // Problems of local lists are already recorded.
        for lack in lacks.joined() where !obstacles.contains(lack) { obstacles.append(lack) }
        return answer ?? .unknown(obstacles)
    }

    /// Queries a source. The time limit is shorter for sources that start later, so that all end at the same time.
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
            guard let body = try? request.encoded() else { return .failed(.malformed("cannot encode the request")) }
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
            // The query would return the same list.
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

    /// Returns the recent failure of a source, which is then not queried again; nil if it has not failed recently. If a
    /// response is required, each evaluation queries, and the result is nil.
    private func recentFailure(of url: String, _ flags: RevocationFlags) -> RevocationProblem? {
        guard !flags.contains(.requirePositiveResponse) else { return nil }
        return memory.failure(of: url, at: now())
    }

    private func remember(_ outcome: FetchOutcome, of url: String) {
        switch outcome {
        // These results do not depend on the source.
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
