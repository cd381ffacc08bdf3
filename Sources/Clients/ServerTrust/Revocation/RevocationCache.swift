import LinuxSupport
import X509

/// A cache of responses, lists, verified signatures and failures. Thread-safe.
final class RevocationCache: Sendable {
    /// The identity of signed data. Its status depends on the issuer's key and on the permitted algorithms.
    private struct Key<Subject: Hashable & Sendable>: Hashable, Sendable {
        let subject: Subject
        let issuer: ServerPublicKey
        let allowsSHA1: Bool

        init(_ subject: Subject, _ query: RevocationQuery) {
            (self.subject, issuer) = (subject, query.issuer.publicKey)
            allowsSHA1 = query.allowsSHA1
        }
    }

    private struct Failure {
        let problem: RevocationProblem
        let end: ContinuousClock.Instant
    }

    private struct State {
        var results: LRUCache<Key<TrustCertificate>, RevocationResult>
        var lists: LRUCache<String, RevocationList>
        /// The lists with a valid signature, by fingerprint. Invalid signatures are not cached, because they are rare.
        var signatures = LRUCache<Key<[UInt8]>, Bool>(capacity: 256)
        /// The failures by URL.
        var failures = LRUCache<String, Failure>(capacity: 256)

        init(_ settings: RevocationSettings) {
            results = LRUCache(capacity: settings.cachedAnswers)
            lists = LRUCache(capacity: settings.cachedLists)
        }
    }

    private let settings: RevocationSettings
    private let state: Locked<State>

    init(_ settings: RevocationSettings) {
        self.settings = settings
        state = Locked(State(settings))
    }

    var resultCount: Int { state.withLock { $0.results.count } }

    var listCount: Int { state.withLock { $0.lists.count } }

    func removeAll() {
        state.withLock { $0 = State(settings) }
    }

    /// Returns the cached response that is valid at the time of the query; nil if no response is cached.
    func result(of query: RevocationQuery) -> RevocationResult? {
        let key = Key(query.certificate, query)
        return state.withLock { state in
            guard let result = state.results[key] else { return nil }
            guard result.validity?.contains(query.time) == true else {
                state.results[key] = nil
                return nil
            }
            return result
        }
    }

    func remember(_ result: RevocationResult, of query: RevocationQuery) {
        guard result.validity?.contains(query.time) == true else { return }
        // An attacker may staple an older, still valid good response. It must not replace a cached revocation.
        if let known = self.result(of: query), known.record != nil, result.record == nil { return }
        let key = Key(query.certificate, query)
        state.withLock { $0.results[key] = result }
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

    /// Verifies the signature of a list. The result is cached if the signature is valid.
    func check(_ list: RevocationList, _ query: RevocationQuery) throws(RevocationProblem) {
        let key = Key(list.content.fingerprint, query)
        guard state.withLock({ $0.signatures[key] }) == nil else { return }
        try list.content.signed.check(by: query.issuer, allowsSHA1: query.allowsSHA1)
        state.withLock { $0.signatures[key] = true }
    }
}

extension RevocationChecker {
    /// Returns the status of one certificate from local and cached data, and the sources to query for it. If the
    /// evaluation does not wait, there are no such sources.
    func localStatus(
        _ query: RevocationQuery,
        _ flags: RevocationFlags,
        waits: Bool
    ) -> (finding: RevocationFinding, sources: [QueriedSource]) {
        let methods = flags.methods
        let findings = methods.map { localStatus(query, $0) }
        if let revoked = findings.first(where: \.isRevoked) { return (revoked, []) }
        var obstacles: [RevocationObstacle] = []
        var queried: [QueriedSource] = []
        for (method, finding) in zip(methods, findings) {
            // The certificate is good, unless a preferred source reports it as revoked.
            guard case .unknown(let more) = finding else { return (finding, queried) }
            obstacles += more
            let sources = sources(query, method)
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
    private func localStatus(_ query: RevocationQuery, _ method: RevocationMethod) -> RevocationFinding {
        var findings: [RevocationFinding]
        switch method {
        case .ocsp:
            findings = [query.stapledResponse].compactMap { $0 }.map { response in
                Self.finding(.stapledResponse) { () throws(RevocationProblem) in
                    try result(response, nonce: nil, about: query, from: .stapledResponse)
                }
            }
            // The cache is read even after a good stapled response, because it may have a newer response with another
            // status.
            if let result = cache.result(of: query) { findings.append(result.finding) }
        case .lists:
            findings = lists(about: query).map { list in
                Self.finding(.list(list.name)) { () throws(RevocationProblem) in try result(list, about: query) }
            }
        }
        return findings.first(where: \.isRevoked)
            ?? (findings.contains(.good) ? .good : .unknown(findings.flatMap(\.obstacles)))
    }

    private static func finding(
        _ source: RevocationSource,
        _ result: () throws(RevocationProblem) -> RevocationResult
    ) -> RevocationFinding {
        do {
            return try result().finding
        } catch {
            return .unknown([RevocationObstacle(error, from: source)])
        }
    }

    /// Evaluates a response, and caches the status if possible.
    func result(
        _ response: [UInt8],
        nonce: [UInt8]?,
        about query: RevocationQuery,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationResult {
        let verifier = OCSPResponseVerifier(query: query, settings: settings) { responder in
            self.localStatus(responder, .lists).isRevoked
        }
        let result = try verifier.result(response, nonce: nonce, from: source)
        cache.remember(result, of: query)
        return result
    }

    /// Returns the reason why no queries may be sent; nil if they may.
    private func queryRefusal(_ flags: RevocationFlags) -> RevocationProblem? {
        if flags.contains(.networkAccessDisabled) { return .networkAccessDisabled }
        return fetcher == nil ? .noFetcher : nil
    }

    /// Returns the sources to query for a certificate.
    private func sources(_ query: RevocationQuery, _ method: RevocationMethod) -> [QueriedSource] {
        let limit = max(0, settings.maximumSources)
        let urls: [String] =
            switch method {
            case .ocsp: Array(RevocationURL.responders(of: query.certificate).prefix(limit))
            case .lists: listURLs + DistributionPoint.locations(in: query.certificate).prefix(limit)
            }
        return urls.map { QueriedSource(method: method, url: $0) }
    }

    /// Returns the local lists of the certificate's issuer. Lists of other issuers are not reported as a problem.
    private func lists(about query: RevocationQuery) -> [RevocationList] {
        let issuer = query.certificate.x509.issuer
        let fetched = sources(query, .lists).compactMap { cache.list(from: $0.url) }
        return (query.lists + lists + fetched).filter { $0.content.issuer == issuer }
    }
}
