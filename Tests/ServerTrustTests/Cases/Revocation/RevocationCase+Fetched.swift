import ServerTrust
import TrustForge

extension RevocationCase {
    private static let url = RevocationWorld.responder
    private static let second = RevocationWorld.secondResponder
    private static let source = RevocationSource.responder(url: url)
    private static let two = RevocationWorld.leaf(responders: [url, second])
    private static let three = RevocationWorld.leaf(responders: [url, second, "http://ocsp3.example/"])
    private static let directory = RevocationWorld.leaf(responders: ["ldap://ocsp.example/", "http://a b/"])

    static let fetched: [RevocationCase] = [
        asking("good, with the nonce") { $0.nonce = nonce },
        asking("good, without a nonce") { $0.nonce = nil },
        asking("good, with another nonce", .wrongNonce) { $0.nonce = [8] },
        asking("good, with an empty nonce", .wrongNonce) { $0.nonce = [] },
        asking("fetched: by a responder of the issuer's") { $0.delegate(to: RevocationWorld.delegate()) },
        asking("fetched: by an unrelated authority", .unauthorizedSigner) { $0.delegate(to: World.strangeRoot) },
        asking("fetched: expired", .expired(World.now.advanced(by: .seconds(-1800)))) {
            $0.nextUpdate = .seconds(-1800)
        },
        asking("fetched: without nextUpdate") {
            $0.nextUpdate = nil
            $0.thisUpdate = .seconds(-60)
        },
        asking("fetched: about another certificate", .otherCertificate) { $0.serialNumber = [1] },
        asking("fetched: unknown to the responder", .unknownToResponder) { $0.statuses = [.unknown] },
        asking("fetched: the responder answers tryLater", .refused(.tryLater)) { $0.responseStatus = 3 },
        RevocationCase("fetched: revoked") {
            $0.chain = [RevocationWorld.withResponder]
            $0.answer(url, .revoked())
            $0.revoked(from: source)
        },
        RevocationCase("fetched: revoked, with another nonce, soft") {
            var response = ForgedResponse.revoked()
            response.nonce = [8]
            $0.chain = [RevocationWorld.withResponder]
            $0.answer(url, response)
            $0.flags = .any
            $0.revoked(from: source)
        },
        RevocationCase("fetched: revoked, without nextUpdate, soft") {
            var response = ForgedResponse.revoked()
            response.nextUpdate = nil
            $0.chain = [RevocationWorld.withResponder]
            $0.answer(url, response)
            $0.flags = .any
            $0.revoked(from: source)
        },
        RevocationCase("a good stapled response: no responder is queried") {
            $0.chain = [RevocationWorld.withResponder]
            $0.stapled = ForgedResponse()
            $0.asked = []
        },
        RevocationCase("an expired stapled response: the responder is queried and answers good") {
            $0.chain = [RevocationWorld.withResponder]
            $0.stapled = ForgedResponse(nextUpdate: .seconds(-1800))
            $0.answer(url, ForgedResponse())
            $0.asked = [url]
        },
        RevocationCase("an expired stapled response: the responder is queried and answers revoked") {
            $0.chain = [RevocationWorld.withResponder]
            $0.stapled = ForgedResponse(nextUpdate: .seconds(-1800))
            $0.answer(url, .revoked())
            $0.revoked(from: source)
        },
        failing("bytes that are not a response", .bytes([0x30, 0x80]), .malformed("")),
        failing("a page in HTML", .bytes(Array("<html>".utf8)), .malformed("")),
        failing("a huge response", .bytes([UInt8](repeating: 0x30, count: 1 << 20)), .tooLarge(limit: 64 << 10)),
        failing("a response above the fetcher's limit", .fails(.tooLarge), .tooLarge(limit: 64 << 10)),
        failing("the fetcher's timeout", .fails(.timedOut), .timedOut(.seconds(5))),
        failing("another HTTP status", .fails(.status(503)), .httpStatus(503)),
        failing("no connection", .fails(.failed("refused")), .unreachable("refused")),
        RevocationCase("a responder that does not answer") {
            $0.chain = [RevocationWorld.withResponder]
            $0.answers = [url: .never]
            $0.isSlow = true
            $0.refuse(RevocationObstacle(.timedOut(.seconds(5)), from: source))
        },
        RevocationCase("a responder that does not answer, soft") {
            $0.chain = [RevocationWorld.withResponder]
            $0.answers = [url: .never]
            $0.isSlow = true
            $0.flags = .any
        },
        RevocationCase("the second responder answers") {
            $0.chain = [two]
            $0.answer(second, ForgedResponse())
            $0.asked = [url, second]
        },
        RevocationCase("a third responder is not queried") {
            $0.chain = [three]
            $0.asked = [url, second]
            $0.refuse(
                RevocationObstacle(.unreachable("no server is at \(url)"), from: source),
                RevocationObstacle(.unreachable("no server is at \(second)"), from: .responder(url: second))
            )
        },
        RevocationCase("responders with unsupported addresses") {
            $0.chain = [directory]
            $0.asked = []
            $0.refuse()
        },
    ]

    private static func failing(
        _ name: String,
        _ answer: FakeFetcher.Answer,
        _ problem: RevocationProblem
    ) -> RevocationCase {
        RevocationCase("fetched: \(name)") {
            $0.chain = [RevocationWorld.withResponder]
            $0.answers = [url: answer]
            $0.refuse(RevocationObstacle(problem, from: source))
        }
    }
}
