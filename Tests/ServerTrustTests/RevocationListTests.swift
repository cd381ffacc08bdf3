import ServerTrust
import Testing
import TrustForge

/// Lists from files.
@Suite struct RevocationListTests {
    @Test func inDERAndInPEM() throws {
        let directory = try ScratchDirectory()
        var list = ForgedList()
        list.revoke()
        let other = ForgedList(issuer: World.strangeRoot)
        let der = try RevocationList.read(try directory.write("list.crl", list.der()))
        #expect(der.map(\.count) == [1])
        #expect(der.map(\.issuer) == ["CN=Root,O=Forge"])
        #expect(der.map(\.thisUpdate) == [World.now.advanced(by: .seconds(-3600))])
        #expect(der.map(\.nextUpdate) == [World.now.advanced(by: .seconds(86_400))])
        let text = "# lists\n" + list.pem() + PEM.text([World.root.der]) + other.pem()
        let path = try directory.write("lists.pem", text)
        let pem = try RevocationList.read(path)
        #expect(pem.map(\.issuer) == ["CN=Root,O=Forge", "CN=Strange Root,O=Forge"])
        #expect(pem.map(\.name) == [path, path])
    }

    @Test func whatCannotBeRead() throws {
        let directory = try ScratchDirectory()
        #expect(throws: RevocationProblem.unreachable("No such file or directory")) {
            try RevocationList.read(directory.path + "/none")
        }
        let file = try directory.write("list.crl", ForgedList().der())
        #expect(throws: RevocationProblem.tooLarge(limit: 10)) { try RevocationList.read(file, limit: 10) }
        let broken = "-----BEGIN X509 CRL-----\n*\n-----END X509 CRL-----\n"
        let half = try directory.write("half.pem", ForgedList().pem() + broken)
        #expect(throws: RevocationProblem.malformed("a block of PEM cannot be decoded")) {
            try RevocationList.read(half)
        }
        #expect(throws: RevocationProblem.self) { try RevocationList(derEncoded: [], name: "nothing") }
    }

    @Test func texts() {
        let list = RevocationSource.list("/etc/lists/a.crl")
        #expect(
            "\(TrustFailure.revoked(subject: "a", detail: RevocationRecord(time: World.now, reason: .keyCompromise, source: list)))"
                == "a is revoked since 2026-06-15T12:00:00Z, keyCompromise, says the list /etc/lists/a.crl"
        )
        let doubt = RevocationDoubt([
            RevocationObstacle(.expired(World.now), from: .stapledResponse),
            RevocationObstacle(.timedOut(.seconds(5)), from: .responder(url: "http://ocsp.example/")),
            RevocationObstacle(.networkAccessDisabled),
        ])
        #expect(
            "\(TrustFailure.revocationUnknown(subject: "a", detail: doubt))"
                == "whether a is revoked is not known: the stapled response has expired, it was good until "
                + "2026-06-15T12:00:00Z; the responder http://ocsp.example/ did not answer within 5.0 seconds; "
                + "network access is disabled"
        )
        #expect(RevocationReason(rawValue: 42).description == "reason 42")
        #expect(OCSPRefusal(rawValue: 42).description == "status 42")
    }

    @Test func flags() {
        #expect(RevocationFlags.useAnyAvailableMethod.rawValue == 3)
        #expect(RevocationFlags.preferCRL.rawValue == 4)
        #expect(RevocationFlags.requirePositiveResponse.rawValue == 8)
        #expect(RevocationFlags.networkAccessDisabled.rawValue == 16)
    }
}
