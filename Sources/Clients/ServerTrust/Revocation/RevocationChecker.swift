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
