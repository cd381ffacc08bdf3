import Testing

@testable import ServerTrust

/// The cases of the tables about revocation in `docs/server-trust.md`.
@Suite struct RevocationCaseTests {
    @Test(arguments: RevocationCase.all)
    func `each case has the expected verdict and queried sources`(_ revocation: RevocationCase) async throws {
        let (verdict, asked) = try await revocation.verdict()
        #expect(verdict == revocation.expected)
        if let expected = revocation.asked { #expect(asked == expected) }
    }

    @Test(.enabled(if: OpenSSL.isInstalled, "openssl is not installed"), arguments: RevocationCase.all)
    func `openssl agrees with each verdict except the documented ones`(_ revocation: RevocationCase) throws {
        switch revocation.openSSL {
        case .agrees: #expect(try OpenSSL.opinion(revocation).isSame(as: revocation.expected))
        case .differs: #expect(try !OpenSSL.opinion(revocation).isSame(as: revocation.expected))
        case .cannotSay: break
        }
    }

    /// An unknown status is refused only if a positive response is required. Otherwise only revoked certificates are
    /// refused.
    @Test func `an unknown status is refused only if a positive response is required`() {
        for revocation in RevocationCase.all {
            let isHard = revocation.flags.contains(.requirePositiveResponse)
            switch revocation.expected {
            case .refused(.revocationUnknown): #expect(isHard, "\(revocation.name)")
            case .refused(.revoked), .trusted: break
            case .refused(let reason): Issue.record("\(revocation.name): \(reason)")
            }
        }
    }

    @Test func `case names are unique within a group`() {
        #expect(RevocationCase.all.count >= 120)
        let names = RevocationCase.groups.flatMap { group in group.cases.map { "\(group.title): \($0.name)" } }
        #expect(Set(names).count == names.count)
    }
}
