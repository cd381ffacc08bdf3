import ServerTrust
import Testing
import TrustForge

/// The expectations of Alamofire's and AFNetworking's tests, evaluated with the API of ServerTrust. Their
/// certificates are binary files, so ``AlamofireWorld`` forges certificates with the same roles.
/// `docs/server-trust.md` counts the rows and lists the differences.
@Suite struct AlamofireTests {
    @Test(arguments: AlamofireRow.all)
    func `each row has the expected verdict and reason`(_ row: AlamofireRow) throws {
        #expect(try row.verdict() == row.expected)
        if let answer = try row.answer() { #expect(answer == (row.expected == .trusted)) }
    }

    /// ServerTrust may be stricter than Alamofire. It is less strict only in rows about features that Alamofire does
    /// not have.
    @Test func `only the listed rows differ from Alamofire`() {
        let differing = AlamofireRow.all.filter { $0.difference != nil }
        #expect(differing.filter { $0.expected == .trusted }.allSatisfy { $0.name.hasPrefix("Alamofire 5: ") })
        #expect(differing.count == 7)
    }

    @Test func `row names are unique`() {
        for group in AlamofireRow.groups { #expect(Set(group.rows.map(\.name)).count == group.rows.count) }
        #expect(AlamofireRow.all.count >= 250)
    }

    @Test(arguments: AlamofireFile.all)
    func `certificates are read only from certificate files of a bundle`(_ file: AlamofireFile) throws {
        let directory = ScratchDirectory()
        try directory.write(file.name, file.content)
        #expect(ServerTrustPolicy.certificates(in: directory.path).count == (file.isRead ? 1 : 0))
        #expect(ServerTrustPolicy.publicKeys(in: directory.path).count == (file.isRead ? 1 : 0))
        #expect(AFSecurityPolicy.certificates(in: directory.path).count == (file.isRead ? 1 : 0))
    }

    @Test func `pinning modes and revocation flags have the raw values of Apple's constants`() {
        let modes: [AFSSLPinningMode] = [.none, .publicKey, .certificate]
        #expect(modes.map(\.rawValue) == [0, 1, 2])
        let flags: [RevocationFlags] = [
            .ocsp, .crl, .preferCRL, .requirePositiveResponse, .networkAccessDisabled, .any, .useAnyAvailableMethod,
        ]
        #expect(flags.map(\.rawValue) == [1, 2, 4, 8, 16, 3, 3])
    }

    @Test func `the default security policy validates the domain and pins nothing`() {
        let policy = AFSecurityPolicy.default()
        #expect(policy.sslPinningMode == .none)
        #expect(!policy.allowInvalidCertificates)
        #expect(policy.validatesDomainName)
        #expect(policy.pinnedCertificates.isEmpty)
        #expect(policy == AFSecurityPolicy(pinningMode: .none))
    }

    @Test func `security policies are compared by value`() {
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
