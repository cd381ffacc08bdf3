import ServerTrust
import Testing
import TrustForge

/// What Alamofire's and AFNetworking's tests expect, through our names. Their certificates are binary files, so those here are forged to
/// the same roles (``AlamofireWorld``); `docs/server-trust.md` counts the rows and lists the differences.
@Suite struct AlamofireTests {
    @Test(arguments: AlamofireRow.all)
    func verdictAndReason(_ row: AlamofireRow) throws {
        #expect(try row.verdict() == row.expected)
        if let answer = try row.answer() { #expect(answer == (row.expected == .trusted)) }
    }

    /// Ours may be stricter than theirs; where it is not, the row is about what they do not know at all.
    @Test func differences() {
        let differing = AlamofireRow.all.filter { $0.difference != nil }
        #expect(differing.filter { $0.expected == .trusted }.allSatisfy { $0.name.hasPrefix("Alamofire 5: ") })
        #expect(differing.count == 7)
    }

    @Test func names() {
        for group in AlamofireRow.groups { #expect(Set(group.rows.map(\.name)).count == group.rows.count) }
        #expect(AlamofireRow.all.count >= 250)
    }

    @Test(arguments: AlamofireFile.all)
    func files(_ file: AlamofireFile) throws {
        let directory = try ScratchDirectory()
        try directory.write(file.name, file.content)
        #expect(ServerTrustPolicy.certificates(in: directory.path).count == (file.isRead ? 1 : 0))
        #expect(ServerTrustPolicy.publicKeys(in: directory.path).count == (file.isRead ? 1 : 0))
        #expect(AFSecurityPolicy.certificates(in: directory.path).count == (file.isRead ? 1 : 0))
    }

    @Test func rawValues() {
        let modes: [AFSSLPinningMode] = [.none, .publicKey, .certificate]
        #expect(modes.map(\.rawValue) == [0, 1, 2])
        let flags: [RevocationFlags] = [
            .ocsp, .crl, .preferCRL, .requirePositiveResponse, .networkAccessDisabled, .any, .useAnyAvailableMethod,
        ]
        #expect(flags.map(\.rawValue) == [1, 2, 4, 8, 16, 3, 3])
    }

    @Test func afNetworkingDefaults() {
        let policy = AFSecurityPolicy.default()
        #expect(policy.sslPinningMode == .none)
        #expect(!policy.allowInvalidCertificates)
        #expect(policy.validatesDomainName)
        #expect(policy.pinnedCertificates.isEmpty)
        #expect(policy == AFSecurityPolicy(pinningMode: .none))
    }

    @Test func afNetworkingPoliciesAreValues() {
        var policy = AFSecurityPolicy(
            pinningMode: .certificate,
            withPinnedCertificates: [AlamofireWorld.httpBin.certificate]
        )
        policy.allowInvalidCertificates = true
        policy.validatesDomainName = false
        var copy = policy
        #expect(copy == policy)
        copy.validatesDomainName = true
        #expect(copy != policy)
    }
}

extension AlamofireFile: CustomTestStringConvertible {
    var testDescription: String { name }
}
