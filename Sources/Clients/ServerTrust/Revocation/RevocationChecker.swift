import LinuxSupport
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
    let cache: RevocationCache
    let flights = SingleFlight<FetchKey, Result<FetchedData, RevocationProblem>>()
    private let sleep: @Sendable (Duration) async throws -> Void
    private let makeNonce: @Sendable () -> [UInt8]
    /// The clock for the pause after a failure, which is independent of the time of the evaluation.
    private let now: @Sendable () -> ContinuousClock.Instant

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
        cache = RevocationCache(settings)
        self.sleep = sleep
        self.makeNonce = makeNonce
        self.now = now
    }

    /// The number of cached responses of responders.
    public var cachedAnswers: Int { cache.resultCount }

    /// The number of cached lists.
    public var cachedLists: Int { cache.listCount }

    /// Removes all cached responses, lists and failures.
    public func removeAll() {
        cache.removeAll()
    }

    /// Returns the status from local and cached data, without waiting.
    public func knownStatus(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) -> RevocationStatus {
        let queries = RevocationQuery.all(about: chain, in: trust)
        return Self.status(queries.map { ($0.certificate, localStatus($0, flags, waits: false).finding) })
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
        let queries = RevocationQuery.all(about: chain, in: trust)
        let local = queries.map { localStatus($0, flags, waits: true) }
        let isRevoked = local.contains(where: \.finding.isRevoked)
        // Cached data is sufficient for most handshakes, which then need no tasks.
        guard !isRevoked, local.contains(where: { !$0.sources.isEmpty }) else {
            return zip(queries, local).map { ($0.certificate, $1.finding) }.filter { !isRevoked || $1.isKnown }
        }
        let findings = await withTaskGroup(of: (Int, RevocationFinding).self) { group in
            for (index, (query, local)) in zip(queries, local).enumerated() {
                group.addTask { (index, await self.finding(local.finding, or: local.sources, query)) }
            }
            return await group.reduce(into: [Int: RevocationFinding]()) { $0[$1.0] = $1.1 }
        }
        return queries.enumerated().map { ($1.certificate, findings[$0] ?? .unknown([])) }
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

/// A responder or a list that can be queried over the network.
struct QueriedSource: Sendable {
    let method: RevocationMethod
    let url: String

    var name: RevocationSource { method == .ocsp ? .responder(url: url) : .list(url) }
}

/// The identity of a query. Queries with the same key have the same result.
struct FetchKey: Hashable, Sendable {
    let url: String
    /// The certificate; nil for a list, which covers many certificates.
    let certificate: TrustCertificate?
    let issuer: ServerPublicKey?
}

/// The data of a source, for all evaluations that wait for it.
enum FetchedData: Sendable {
    /// An OCSP response, and the nonce of the request.
    case response([UInt8], nonce: [UInt8]?)
    case list(RevocationList)
}

extension RevocationChecker {
    private enum Step: Sendable {
        case answered(Int, RevocationFinding)
        case headStartIsOver(Int)
    }

    /// Queries sources. Returns the first known status. Without one, returns the status from local data, and if that is
    /// unknown, the problem of each source.
    private func finding(
        _ local: RevocationFinding,
        or sources: [QueriedSource],
        _ query: RevocationQuery
    ) async -> RevocationFinding {
        var lacks = Array(repeating: [RevocationObstacle](), count: sources.count)
        let result = await withTaskGroup(of: Step.self) { group in
            var next = 0
            var waiting = 0
            var mayStart = true
            while true {
                if mayStart, next < sources.count {
                    let index = next
                    group.addTask { .answered(index, await self.ask(sources[index], at: index, query)) }
                    group.addTask {
                        try? await self.sleep(self.settings.headStart)
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
        if let result { return result }
        guard case .unknown(var obstacles) = local else { return local }
        // Problems of local lists are already recorded.
        for lack in lacks.joined() where !obstacles.contains(lack) { obstacles.append(lack) }
        return .unknown(obstacles)
    }

    /// Queries a source. The time limit is shorter for sources that start later, so that all end at the same time.
    private func ask(
        _ source: QueriedSource,
        at index: Int,
        _ query: RevocationQuery
    ) async -> RevocationFinding {
        let least = min(settings.headStart, settings.timeLimit)
        let limit = max(least, settings.timeLimit - settings.headStart * index)
        do throws(RevocationProblem) {
            if source.method == .lists, let known = cache.list(from: source.url),
                known.content.issuer != query.certificate.x509.issuer, let nextUpdate = known.nextUpdate,
                query.time <= nextUpdate
            {
                // The query would return the same list.
                throw .otherIssuer
            }
            switch try await fetched(source, query, limit) {
            case .response(let response, let nonce):
                return try result(response, nonce: nonce, about: query, from: source.name).finding
            case .list(let list):
                let result = try result(list, about: query)
                if result.validity != nil, list.nextUpdate != nil { cache.remember(list, from: source.url) }
                return result.finding
            }
        } catch {
            return .unknown([RevocationObstacle(error, from: source.name)])
        }
    }

    /// Returns the data of a source. Evaluations that need the same data share one request.
    private func fetched(
        _ source: QueriedSource,
        _ query: RevocationQuery,
        _ limit: Duration
    ) async throws(RevocationProblem) -> FetchedData {
        let isList = source.method == .lists
        let key = FetchKey(
            url: source.url,
            certificate: isList ? nil : query.certificate,
            issuer: isList ? nil : query.issuer.publicKey
        )
        let outcome = await flights.value(
            for: key,
            { await self.outcome(of: source, query) },
            { (try? await self.sleep(limit)) == nil ? nil : .failure(.timedOut(limit)) }
        )
        switch outcome {
        // These results do not depend on the source.
        case nil, .failure(.cancelled), .failure(.noFetcher): break
        case .failure(let problem):
            cache.remember(problem, of: source.url, until: now() + settings.pauseAfterFailure)
        case .success: cache.forgetFailure(of: source.url)
        }
        guard let outcome else { throw .cancelled }
        return try outcome.get()
    }

    private func outcome(
        of source: QueriedSource,
        _ query: RevocationQuery
    ) async -> Result<FetchedData, RevocationProblem> {
        do throws(RevocationProblem) {
            guard source.method == .ocsp else {
                let list = try await bytes(.list(source.url, settings))
                return .success(.list(try RevocationList(bytes: list, name: source.url)))
            }
            let nonce = settings.usesNonce ? makeNonce() : nil
            let request = OCSPRequest(id: OCSPCertificateID(of: query, digest: .sha1), nonce: nonce)
            guard let body = try? request.encoded() else { throw .unencodableRequest }
            return .success(.response(try await bytes(.ocsp(source.url, body, settings)), nonce: nonce))
        } catch {
            return .failure(error)
        }
    }

    private func bytes(_ request: RevocationRequest) async throws(RevocationProblem) -> [UInt8] {
        guard let fetcher else { throw .noFetcher }
        let bytes: [UInt8]
        do {
            bytes = try await fetcher.fetch(request)
        } catch {
            throw error.problem(request)
        }
        guard bytes.count <= request.sizeLimit else { throw .tooLarge(limit: request.sizeLimit) }
        return bytes
    }

    /// Returns the recent failure of a source, which is then not queried again; nil if it has not failed recently. If a
    /// response is required, each evaluation queries, and the result is nil.
    func recentFailure(of url: String, _ flags: RevocationFlags) -> RevocationProblem? {
        guard !flags.contains(.requirePositiveResponse) else { return nil }
        return cache.failure(of: url, at: now())
    }
}
