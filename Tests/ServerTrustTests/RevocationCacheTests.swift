import TestSupport
import Testing
import TrustForge

@testable import ServerTrust

/// The cache of revocation statuses.
@Suite struct RevocationCacheTests {
    private static let responder = RevocationWorld.responder
    private static let place = RevocationWorld.list
    private static let hard: RevocationFlags = [.any, .requirePositiveResponse]

    private static func trust(
        _ checker: RevocationChecker,
        _ leaf: Forged = RevocationWorld.withResponder,
        after delay: Duration = .zero,
        stapled: ForgedResponse? = nil
    ) throws -> ServerTrust {
        let time = World.now.advanced(by: delay)
        var trust = try ServerTrust([leaf], anchors: [RevocationWorld.authority], at: time, revocation: checker)
        trust.stapledOCSPResponse = stapled?.der()
        return trust
    }

    private static func reason(
        _ trust: ServerTrust,
        _ flags: RevocationFlags = hard,
        waits: Bool = true
    ) async -> TrustFailure? {
        let evaluator = RevocationTrustEvaluator(options: flags)
        return waits ? await evaluator.onlineReason(trust) : evaluator.reason(trust)
    }

    @Test func `a response is cached until its next update`() async throws {
        let fetcher = FakeFetcher([Self.responder: .bytes(ForgedResponse(nextUpdate: .seconds(600)).der())])
        let checker = RevocationChecker(fetcher: fetcher)
        #expect(await Self.reason(try Self.trust(checker)) == nil)
        #expect(checker.cachedAnswers == 1)
        #expect(checker.cachedLists == 0)
        #expect(await Self.reason(try Self.trust(checker, after: .seconds(600))) == nil)
        #expect(await Self.reason(try Self.trust(checker), waits: false) == nil)
        #expect(fetcher.requests.count == 1)
        fetcher.set(Self.responder, .fails(.status(500)))
        let reason = await Self.reason(try Self.trust(checker, after: .seconds(601)))
        #expect(fetcher.requests.count == 2)
        let obstacle = RevocationObstacle(.httpStatus(500), from: .responder(url: Self.responder))
        #expect(reason == .revocationUnknown(subject: World.host, detail: RevocationDoubt([obstacle])))
        #expect(checker.cachedAnswers == 0)
        #expect(checker.cachedLists == 0)
    }

    @Test func `a list is cached until its next update`() async throws {
        let fetcher = FakeFetcher([Self.place: .bytes(ForgedList(nextUpdate: .seconds(600)).der())])
        let checker = RevocationChecker(fetcher: fetcher)
        let leaf = RevocationWorld.withList
        #expect(await Self.reason(try Self.trust(checker, leaf)) == nil)
        #expect(checker.cachedAnswers == 0)
        #expect(checker.cachedLists == 1)
        #expect(await Self.reason(try Self.trust(checker, leaf, after: .seconds(600))) == nil)
        #expect(fetcher.requests.count == 1)
        var later = ForgedList(nextUpdate: .seconds(7200))
        later.revoke()
        fetcher.set(Self.place, .bytes(later.der()))
        #expect(caseName(await Self.reason(try Self.trust(checker, leaf, after: .seconds(1000)))) == "revoked")
        #expect(fetcher.requests.count == 2)
        #expect(fetcher.requests.allSatisfy { $0.method == .get && $0.accept == "application/pkix-crl" })
    }

    @Test func `a good response without a next update is not cached`() async throws {
        let response = ForgedResponse(thisUpdate: .seconds(-60), nextUpdate: nil)
        let fetcher = FakeFetcher([Self.responder: .bytes(response.der())])
        let checker = RevocationChecker(fetcher: fetcher)
        #expect(await Self.reason(try Self.trust(checker)) == nil)
        #expect(checker.cachedAnswers == 0)
        #expect(checker.cachedLists == 0)
        var revoked = response
        revoked.revoke()
        fetcher.set(Self.responder, .bytes(revoked.der()))
        #expect(caseName(await Self.reason(try Self.trust(checker), .any)) == "revoked")
        // A revocation is cached until the certificate expires.
        #expect(checker.cachedAnswers == 1)
        #expect(checker.cachedLists == 0)
        fetcher.set(Self.responder, .bytes(response.der()))
        let end = World.ends.secondsSinceEpoch - World.now.secondsSinceEpoch
        #expect(caseName(await Self.reason(try Self.trust(checker, after: .seconds(end)), .any)) == "revoked")
        #expect(fetcher.requests.count == 2)
    }

    @Test func `a result obtained with SHA-1 is not used if SHA-1 is not allowed`() {
        let cache = RevocationCache(RevocationSettings())
        func query(_ allowsSHA1: Bool) -> RevocationQuery {
            RevocationQuery(
                certificate: RevocationWorld.plain.certificate,
                issuer: RevocationWorld.authority.certificate,
                time: World.now,
                allowsSHA1: allowsSHA1,
                stapledResponse: nil,
                lists: []
            )
        }
        let end = World.now.advanced(by: .seconds(60))
        let result = RevocationResult(nil, from: World.now, to: end, about: query(true), RevocationSettings())
        cache.remember(result, of: query(true))
        #expect(cache.result(of: query(true)) == result)
        #expect(cache.result(of: query(false)) == nil)
    }

    @Test func `an older stapled response does not replace a newer cached one`() async throws {
        let fetcher = FakeFetcher([Self.responder: .bytes(ForgedResponse.revoked().der())])
        let checker = RevocationChecker(fetcher: fetcher)
        #expect(caseName(await Self.reason(try Self.trust(checker))) == "revoked")
        let older = ForgedResponse(thisUpdate: .seconds(-80_000), nextUpdate: .seconds(80_000))
        for waits in [true, false] {
            let reason = await Self.reason(try Self.trust(checker, stapled: older), .any, waits: waits)
            #expect(caseName(reason) == "revoked")
        }
        #expect(fetcher.requests.count == 1)
    }

    @Test func `failures are not cached`() async throws {
        let fetcher = FakeFetcher([Self.responder: .bytes([1, 2, 3])])
        let checker = RevocationChecker(fetcher: fetcher)
        #expect(await Self.reason(try Self.trust(checker)) != nil)
        fetcher.set(Self.responder, .bytes(ForgedResponse().der()))
        #expect(await Self.reason(try Self.trust(checker)) == nil)
        checker.removeAll()
        #expect(checker.cachedAnswers == 0)
        #expect(checker.cachedLists == 0)
        #expect(await Self.reason(try Self.trust(checker), waits: false) != nil)
    }

    @Test func `a cached response is not used for another certificate`() async throws {
        let fetcher = FakeFetcher([Self.responder: .bytes(ForgedResponse().der())])
        let checker = RevocationChecker(fetcher: fetcher)
        #expect(await Self.reason(try Self.trust(checker)) == nil)
        var blueprint = Blueprint.leaf().with(\.ends, TrustTime(year: 2026, month: 12, day: 1))
        blueprint.more = RevocationWorld.extensions(responders: [Self.responder])
        let other = blueprint.signed(by: RevocationWorld.authority)
        let obstacle = RevocationObstacle(.otherCertificate, from: .responder(url: Self.responder))
        #expect(
            await Self.reason(try Self.trust(checker, other))
                == .revocationUnknown(subject: World.host, detail: RevocationDoubt([obstacle]))
        )
    }

    /// The policies of Alamofire 4 evaluate without waiting. The trust has no checker.
    @Test func `without a checker the stapled response determines the verdict`() throws {
        var response = ForgedResponse()
        var trust = try Self.trust(RevocationChecker(), stapled: response)
        trust.revocation = nil
        let soft = ServerTrustPolicy.performRevokedEvaluation(validateHost: true, revocationFlags: .any)
        let hard = ServerTrustPolicy.performRevokedEvaluation(validateHost: true, revocationFlags: Self.hard)
        #expect(soft.evaluate(trust, forHost: World.host))
        #expect(hard.evaluate(trust, forHost: World.host))
        response.revoke()
        trust.stapledOCSPResponse = response.der()
        #expect(!soft.evaluate(trust, forHost: World.host))
        // Without a response and a checker the status can never be determined.
        trust.stapledOCSPResponse = nil
        #expect(!soft.evaluate(trust, forHost: World.host))
        #expect(!hard.evaluate(trust, forHost: World.host))
    }

    @Test func `no source is contacted if the maximum is negative`() async throws {
        var settings = RevocationSettings()
        settings.maximumSources = -1
        let fetcher = FakeFetcher([Self.responder: .bytes(ForgedResponse().der())])
        let checker = RevocationChecker(fetcher: fetcher, settings: settings)
        #expect(
            await Self.reason(try Self.trust(checker))
                == .revocationUnknown(subject: World.host, detail: RevocationDoubt(.noSource))
        )
        #expect(fetcher.requests.isEmpty)
    }

    @Test func `the cache does not exceed its capacity`() async throws {
        var settings = RevocationSettings()
        settings.cachedAnswers = 4
        let checker = RevocationChecker(settings: settings)
        for index in 0..<12 {
            let leaf = World.leaf { $0.ends = TrustTime(year: 2026, month: 12, day: index + 1) }
            var trust = try ServerTrust([leaf], anchors: [World.intermediate], revocation: checker)
            trust.stapledOCSPResponse =
                ForgedResponse(subject: leaf, issuer: World.intermediate, signer: World.intermediate).der()
            #expect(await Self.reason(trust) == nil)
            #expect(checker.cachedAnswers <= 4)
        }
        #expect(checker.cachedAnswers > 0)
    }

    @Test func `a list of another authority is not fetched again`() async throws {
        let url = "http://both.example/"
        let fetcher = FakeFetcher([url: .bytes(ForgedList().der())])
        let checker = RevocationChecker(fetcher: fetcher, listURLs: [url])
        #expect(await Self.reason(try Self.trust(checker, RevocationWorld.plain)) == nil)
        let trust = try ServerTrust([World.leaf], anchors: [World.intermediate], revocation: checker)
        let obstacle = RevocationObstacle(.otherIssuer, from: .list(url))
        #expect(
            await Self.reason(trust)
                == .revocationUnknown(subject: World.host, detail: RevocationDoubt([obstacle]))
        )
        #expect(fetcher.requests.count == 1)
    }
}
