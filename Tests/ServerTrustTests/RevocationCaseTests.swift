import Testing

@testable import ServerTrust

/// The tables about revocation of `docs/server-trust.md`, case by case.
@Suite struct RevocationCaseTests {
    @Test(arguments: RevocationCase.all)
    func verdictAndReason(_ revocation: RevocationCase) async throws {
        let (verdict, asked) = try await revocation.verdict()
        #expect(verdict == revocation.expected)
        if let expected = revocation.asked { #expect(asked == expected) }
    }

    @Test(.enabled(if: OpenSSL.isInstalled, "openssl is not installed"), arguments: RevocationCase.all)
    func openSSL(_ revocation: RevocationCase) throws {
        switch revocation.openSSL {
        case .agrees: #expect(try OpenSSL.opinion(revocation).isSame(as: revocation.expected))
        case .differs: #expect(try !OpenSSL.opinion(revocation).isSame(as: revocation.expected))
        case .cannotSay: break
        }
    }

    /// Without an answer that is good nobody passes who needs one; and whoever is refused softly is revoked.
    @Test func softAndHard() {
        for revocation in RevocationCase.all {
            let isHard = revocation.flags.contains(.requirePositiveResponse)
            switch revocation.expected {
            case .refused(.revocationUnknown): #expect(isHard, "\(revocation.name)")
            case .refused(.revoked), .trusted: break
            case .refused(let reason): Issue.record("\(revocation.name): \(reason)")
            }
        }
    }

    @Test func names() {
        #expect(RevocationCase.all.count >= 120)
        let names = RevocationCase.groups.flatMap { group in group.cases.map { "\(group.title): \($0.name)" } }
        #expect(Set(names).count == names.count)
    }
}
