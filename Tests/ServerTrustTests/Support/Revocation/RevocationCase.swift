import TestSupport
import Testing
import TrustForge

@testable import ServerTrust

/// One server, the sources of its revocation status, and the expected verdict.
struct RevocationCase: Sendable {
    /// The comparison with `openssl ocsp` for a stapled response, and with `openssl verify` for a list.
    typealias OpenSSL = TrustCase.OpenSSL

    static let nonce = [UInt8](repeating: 7, count: 32)

    let name: String
    /// The chain, which starts with the server's certificate.
    var chain = [RevocationWorld.plain]
    var anchor = RevocationWorld.authority
    var stapled: ForgedResponse?
    /// The bytes of a stapled response. They replace `stapled`.
    var stapledBytes: [UInt8]?
    var list: ForgedList?
    var answers: [String: FakeFetcher.Answer] = [:]
    var hasFetcher = true
    var isSlow = false
    var listURLs: [String] = []
    var flags: RevocationFlags = [.any, .requirePositiveResponse]
    /// Whether the evaluation may wait for responses.
    var waits = true
    var allowsSHA1 = false
    var expected = TrustCase.Verdict.trusted
    /// The contacted URLs in order; nil if the case does not check them.
    var asked: [String]?
    var openSSL = OpenSSL.cannotSay

    init(_ name: String, _ change: (inout RevocationCase) -> Void) {
        self.name = name
        change(&self)
    }

    /// Expects an unknown revocation status with these obstacles.
    mutating func refuse(_ obstacles: RevocationObstacle..., subject: String = World.host) {
        expected = .refused(.revocationUnknown(subject: subject, detail: RevocationDoubt(obstacles)))
    }

    mutating func revoked(
        from source: RevocationSource,
        reason: RevocationReason? = .keyCompromise,
        subject: String = World.host
    ) {
        let record = RevocationRecord(time: World.now.advanced(by: .seconds(-86_400)), reason: reason, source: source)
        expected = .refused(.revoked(subject: subject, detail: record))
    }

    /// Sets the response of a responder or list server.
    mutating func answer(_ url: String, _ response: ForgedResponse) {
        answers[url] = .bytes(response.der())
    }

    mutating func answer(_ url: String, _ list: ForgedList) {
        answers[url] = .bytes(list.der())
    }

    func trust() throws -> ServerTrust {
        var trust = try ServerTrust(chain, anchors: [anchor])
        trust.requirements.allowsSHA1 = allowsSHA1
        trust.stapledOCSPResponse = stapledBytes ?? stapled?.der()
        return trust
    }

    func checker(_ fetcher: FakeFetcher) throws -> RevocationChecker {
        let isSlow = isSlow
        return RevocationChecker(
            fetcher: hasFetcher ? fetcher : nil,
            lists: try list.map { [try RevocationList(derEncoded: $0.der(), name: "given")] } ?? [],
            listURLs: listURLs,
            settings: RevocationSettings(),
            sleep: { duration in
                // Head starts never elapse, so the sources are contacted one after the other.
                if !isSlow || duration == RevocationSettings().headStart { await Gate().wait() }
                try Task.checkCancellation()
            },
            makeNonce: { Self.nonce }
        )
    }

    /// Returns the verdict of the evaluator, and the contacted URLs.
    func verdict() async throws -> (verdict: TrustCase.Verdict, asked: [String]) {
        let fetcher = FakeFetcher(answers)
        var trust = try trust()
        trust.revocation = try checker(fetcher)
        let evaluator = RevocationTrustEvaluator(options: flags)
        let reason = waits ? await evaluator.onlineReason(trust) : evaluator.reason(trust)
        return (reason.map { .refused($0.withoutWords) } ?? .trusted, fetcher.requests.map(\.url))
    }
}

extension RevocationCase: CustomTestStringConvertible {
    var testDescription: String { name }
}

extension TrustFailure {
    /// The failure without the message of the parser, which is not under test.
    fileprivate var withoutWords: TrustFailure {
        guard case .revocationUnknown(let subject, let detail) = self else { return self }
        let obstacles = detail.obstacles.map { obstacle in
            guard case .malformed = obstacle.problem else { return obstacle }
            return RevocationObstacle(.malformed(""), from: obstacle.source)
        }
        return .revocationUnknown(subject: subject, detail: RevocationDoubt(obstacles))
    }
}
