import SwiftASN1
import TestSupport
import Testing
import TrustForge

@testable import ServerTrust

/// Revocation lists from files, and the order in which their parts are read.
@Suite struct RevocationListTests {
    @Test func `lists are read from DER and PEM files`() throws {
        let directory = ScratchDirectory()
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

    @Test func `a list that is missing, too large or malformed is an error`() throws {
        let directory = ScratchDirectory()
        #expect(throws: RevocationProblem.unreachable("No such file or directory")) {
            try RevocationList.read(directory.path + "/none")
        }
        let file = try directory.write("list.crl", ForgedList().der())
        #expect(throws: RevocationProblem.tooLarge(limit: 10)) { try RevocationList.read(file, limit: 10) }
        let broken = "-----BEGIN X509 CRL-----\n*\n-----END X509 CRL-----\n"
        let half = try directory.write("half.pem", ForgedList().pem() + broken)
        #expect(throws: RevocationProblem.malformed("cannot decode a PEM block")) {
            try RevocationList.read(half)
        }
        #expect(throws: RevocationProblem.self) { try RevocationList(derEncoded: [], name: "nothing") }
    }

    /// Returns encoded entries without a reason. Each serial number has three bytes.
    private static func entries(_ serialNumbers: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        for number in serialNumbers {
            let digits = [0x40 | UInt8(number >> 16), UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
            bytes += [0x30, 20, 0x02, 3] + digits + [0x17, 13] + Array("260101000000Z".utf8)
        }
        return bytes
    }

    private static func finding(
        _ list: RevocationList,
        _ leaf: Forged = RevocationWorld.plain
    ) throws -> RevocationStatus {
        let trust = try ServerTrust([leaf], anchors: [RevocationWorld.authority])
        let chain = try trust.validatedChain(forHost: World.host)
        return RevocationChecker(lists: [list]).knownStatus(
            of: chain,
            in: trust,
            flags: [.crl, .requirePositiveResponse]
        )
    }

    private static func problems(_ status: RevocationStatus) -> [RevocationProblem] {
        guard case .unknown(_, let doubt) = status else { return [] }
        return doubt.obstacles.map(\.problem)
    }

    /// An attacker who can answer for the URL can send eight megabytes.
    @Test func `the entries of a list with a bad signature are not parsed`() throws {
        var forged = ForgedList(key: .p256("pretender"))
        forged.encodedEntries = Self.entries(0..<40_000)
        let long = try RevocationList(bytes: forged.der(), name: "long")
        #expect(Self.problems(try Self.finding(long)) == [.badSignature])
        // The signature is verified before the entries, so the malformed entry is not reported.
        forged.encodedEntries = [0x30, 2, 0x05, 0]
        let broken = try RevocationList(bytes: forged.der(), name: "broken")
        #expect(Self.problems(try Self.finding(broken)) == [.badSignature])
        forged.key = nil
        let signed = try RevocationList(bytes: forged.der(), name: "signed")
        #expect(caseName(Self.problems(try Self.finding(signed)).first) == "malformed")
        // A list from a file is refused at once.
        #expect(throws: RevocationProblem.self) { try RevocationList(derEncoded: forged.der(), name: "file") }
    }

    @Test func `a revoked certificate is found in a long list`() throws {
        var forged = ForgedList()
        let own = Encoded.sequence(
            Encoded.integer(RevocationWorld.plain.x509.serialNumber.bytes),
            Encoded.shortTime(World.now.advanced(by: .seconds(-86_400)))
        )
        forged.encodedEntries = Self.entries(0..<3000) + own + Self.entries(3000..<6000)
        let list = try RevocationList(bytes: forged.der(), name: "many")
        #expect(list.count == 6001)
        #expect(caseName(try Self.finding(list)) == "revoked")
        let other = ForgedList()
        #expect(try Self.finding(try RevocationList(bytes: other.der(), name: "none")) == .good)
    }

    @Test(
        arguments: [
            [0x30], [0x30, 0x80, 0, 0], [0x30, 0x81, 1, 0], [0x30, 0x82, 0, 0x80] + [UInt8](repeating: 0, count: 128),
            [0x30, 2, 0], [0x3f, 1, 0], [0x30, 0x85, 0, 0, 0, 0, 1, 0], [0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
        ] as [[UInt8]]
    )
    func `malformed DER is refused`(_ bytes: [UInt8]) {
        var cursor = DERCursor(bytes[...])
        #expect(throws: ASN1Error.self) { try cursor.next() }
        #expect(throws: (any Error).self) { try DER.parse(bytes) }
    }

    @Test func `DER elements of any length are read`() throws {
        let long = Encoded.octets([UInt8](repeating: 1, count: 70_000))
        let parts = [Encoded.integer([5]), Encoded.octets([UInt8](repeating: 2, count: 200)), long, Encoded.sequence()]
        var cursor = DERCursor(Array(parts.joined())[...])
        for part in parts { #expect(try cursor.next().map { Array($0.encoded) } == part) }
        #expect(try cursor.next()?.tag == nil)
        var again = DERCursor(long[...])
        let element = try #require(try again.next())
        #expect(element.content.count == 70_000)
        #expect(throws: ASN1Error.self) { try element.parsed("what is long") }
    }

    @Test func `revocation errors have plain descriptions`() {
        let list = RevocationSource.list("/etc/lists/a.crl")
        #expect(
            "\(TrustFailure.revoked(subject: "a", detail: RevocationRecord(time: World.now, reason: .keyCompromise, source: list)))"
                == "a is revoked since 2026-06-15T12:00:00Z, keyCompromise, according to the list /etc/lists/a.crl"
        )
        let doubt = RevocationDoubt([
            RevocationObstacle(.expired(World.now), from: .stapledResponse),
            RevocationObstacle(.timedOut(.seconds(5)), from: .responder(url: "http://ocsp.example/")),
            RevocationObstacle(.networkAccessDisabled),
        ])
        #expect(
            "\(TrustFailure.revocationUnknown(subject: "a", detail: doubt))"
                == "the revocation status of a is unknown: the stapled response has expired, it was valid until "
                + "2026-06-15T12:00:00Z; the responder http://ocsp.example/ did not answer within 5.0 seconds; "
                + "network access is disabled"
        )
        #expect(
            "\(RevocationObstacle(.unencodableRequest, from: .responder(url: "http://ocsp.example/")))"
                == "the responder http://ocsp.example/ cannot be queried: the request cannot be encoded"
        )
        #expect(RevocationReason(rawValue: 42).description == "reason 42")
        #expect(OCSPRefusal(rawValue: 42).description == "status 42")
    }
}
