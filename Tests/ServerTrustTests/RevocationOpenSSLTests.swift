import NetworkLab
import Synchronization
import Testing
import TrustForge

@testable import ServerTrust

/// Responses and lists that OpenSSL creates for requests of this library.
@Suite(.enabled(if: OpenSSL.isInstalled, "openssl is not installed"))
struct RevocationOpenSSLTests {
    /// A fetcher that returns OpenSSL's response.
    private struct Responder: RevocationFetching {
        let authority: OpenSSLAuthority
        let reason: String?
        let isDelegated: Bool

        func fetch(_ request: RevocationRequest) async throws(RevocationFetchError) -> [UInt8] {
            do {
                return try authority.response(to: request.body, reason: reason, isDelegated: isDelegated)
            } catch {
                throw .failed("\(error)")
            }
        }
    }

    private static func reason(
        _ authority: OpenSSLAuthority,
        _ checker: RevocationChecker
    ) async throws -> TrustFailure? {
        let trust = try ServerTrust([authority.leaf], anchors: [authority.root], at: .now, revocation: checker)
        return await RevocationTrustEvaluator(options: [.any, .requirePositiveResponse]).onlineReason(trust)
    }

    private static func revoked(_ source: RevocationSource) -> TrustFailure {
        let since = TrustTime(year: 2026, month: 1, day: 1)
        let record = RevocationRecord(time: since, reason: .superseded, source: source)
        return .revoked(subject: World.host, detail: record)
    }

    @Test(arguments: [false, true])
    func `a response created by openssl is accepted`(isDelegated: Bool) async throws {
        let authority = try OpenSSLAuthority()
        let good = Responder(authority: authority, reason: nil, isDelegated: isDelegated)
        let checker = RevocationChecker(fetcher: good)
        #expect(try await Self.reason(authority, checker) == nil)
        #expect(checker.cachedAnswers == 1)
        let bad = Responder(authority: authority, reason: "superseded", isDelegated: isDelegated)
        #expect(
            try await Self.reason(authority, RevocationChecker(fetcher: bad))
                == Self.revoked(.responder(url: RevocationWorld.responder))
        )
    }

    @Test func `a list created by openssl is accepted`() async throws {
        let authority = try OpenSSLAuthority()
        let good = try RevocationList(bytes: try authority.list(reason: nil), name: "good")
        #expect(good.count == 0)
        #expect(try await Self.reason(authority, RevocationChecker(lists: [good])) == nil)
        let bad = try RevocationList(bytes: try authority.list(reason: "superseded"), name: "bad")
        #expect(bad.count == 1)
        #expect(try await Self.reason(authority, RevocationChecker(lists: [bad])) == Self.revoked(.list("bad")))
    }
}
