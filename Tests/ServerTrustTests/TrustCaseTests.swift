import ServerTrust
import Testing
import TrustForge

/// The cases of the tables in `docs/server-trust.md`.
@Suite struct TrustCaseTests {
    @Test(arguments: TrustCase.all)
    func `each case has the expected verdict and reason`(_ trust: TrustCase) {
        #expect(trust.verdict() == trust.expected)
    }

    @Test(arguments: TrustCase.all)
    func `a cached chain has the same verdict`(_ trust: TrustCase) {
        let cache = ValidatedChainCache()
        #expect(trust.verdict(cache: cache) == trust.expected)
        #expect(trust.verdict(cache: cache) == trust.expected)
    }

    @Test(.enabled(if: OpenSSL.isInstalled, "openssl is not installed"), arguments: TrustCase.all)
    func `openssl agrees with each verdict except the documented ones`(_ trust: TrustCase) throws {
        switch trust.openSSL {
        case .agrees: #expect(try OpenSSL.accepts(trust) == (trust.expected == .trusted))
        case .differs: #expect(try OpenSSL.accepts(trust) != (trust.expected == .trusted))
        case .cannotSay: break
        }
    }

    @Test func `case names are unique within a group`() {
        #expect(TrustCase.all.count >= 150)
        #expect(
            Set(TrustCase.groups.flatMap { group in group.cases.map { "\(group.title): \($0.name)" } }).count
                == TrustCase.all.count
        )
    }
}

extension TrustCase: CustomTestStringConvertible {
    package var testDescription: String { name }
}
