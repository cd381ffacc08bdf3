import Crypto
import CryptoExtras
import ServerTrust
import SwiftASN1
import TestSupport
import Testing
import TrustForge
import X509

@testable import ReachabilityFleetAgent

/// Certificate requests from untrusted sources.
@Suite struct CertificateRequestTests {
    private static func fault(_ bytes: [UInt8]) -> RequestFault? {
        do { _ = try CertificateRequest(bytes) } catch { return error }
        return nil
    }

    @Test func `only the name and the key of a request are used`() throws {
        let plain = try ForgedRequest().request
        #expect(plain.name == "door-7" && plain.passedOver.isEmpty)
        var forged = ForgedRequest()
        forged.subject.append((.NameAttributes.organizationName, "Acme"))
        forged.hosts = ["broker.example.org"]
        let request = try forged.request
        #expect(request.name == "door-7" && request.publicKey == forged.key.publicKey)
        #expect(request.passedOver == ["the rest of the name", "the requested extensions"])
        let certificate = try Fleet.certificate(forged, by: try Fleet.authority())
        let x509 = certificate.certificate.x509
        #expect(x509.subject == (try DistinguishedName { CommonName("door-7") }))
        #expect(try x509.extensions.subjectAlternativeNames == nil)
    }

    @Test(arguments: ["a", "door-7", "7", "Door_7.hq", String(repeating: "a", count: 64)])
    func `a valid device name is accepted`(name: String) throws {
        #expect(try ForgedRequest(name).request.name == name)
    }

    @Test(arguments: [
        "", "hq/door", "+", "#", "*", "$hub", "-door", ".door", "door 7", "door\n", "d\u{f6}\u{f6}r", "door\0",
        "\u{1b}[31m",
        String(repeating: "a", count: 65),
    ])
    func `an invalid device name is refused and escaped in the message`(name: String) throws {
        let fault = try #require(Self.fault(try ForgedRequest(name).pem))
        #expect(fault == .name(name))
        #expect(!fault.description.contains { $0.isNewline || $0 == "\u{1b}" || $0 == "\0" })
    }

    @Test func `a request with several names is refused`() throws {
        #expect(Self.fault(try ForgedRequest("door-7", "hub").pem) == .names(2))
        var nameless = ForgedRequest()
        nameless.subject = [(.NameAttributes.organizationName, "door-7")]
        #expect(Self.fault(try nameless.pem) == .names(0))
        nameless.subject = []
        #expect(Self.fault(try nameless.pem) == .names(0))
    }

    @Test func `a request with a wrong signature is refused`() throws {
        var forged = ForgedRequest()
        forged.signer = ForgeKey.p256("thief").key
        #expect(Self.fault(try forged.pem) == .signature)
        // The name was changed after signing.
        var der = try ForgedRequest().der
        let place = try #require(der.firstRange(of: Array("door-7".utf8)))
        der.replaceSubrange(place, with: Array("door-8".utf8))
        #expect(Self.fault(PEMText.bytes("CERTIFICATE REQUEST", der)) == .signature)
    }

    @Test func `usual kinds of keys are accepted and weak keys are refused`() throws {
        var forged = ForgedRequest()
        for key in [ForgeKey.p384("a").key, ForgeKey.ed25519("a").key, ForgeKey.rsa2048[0].key] {
            forged.key = key
            #expect(try forged.request.publicKey == key.publicKey)
        }
        forged.key = ForgeKey.rsa1024.key
        guard case .unreadable = Self.fault(try forged.pem) else {
            Issue.record("RSA with 1024 bits is accepted")
            return
        }
    }

    @Test func `an invalid request is refused`() throws {
        let good = try ForgedRequest().pem
        #expect(Self.fault([]) == .count(0))
        #expect(Self.fault(Array("hello".utf8)) == .count(0))
        #expect(Self.fault(good + good) == .count(2))
        #expect(Self.fault(try ForgedRequest().der) == .count(0))
        let certificate = try Fleet.certificate(by: try Fleet.authority())
        #expect(Self.fault(certificate.pem) == .count(0))
        guard
            case .unreadable = Self.fault(
                PEMText.bytes("CERTIFICATE REQUEST", certificate.certificate.derRepresentation)
            )
        else {
            Issue.record("a certificate is taken for a request")
            return
        }
        #expect(Self.fault([UInt8](repeating: 10, count: CertificateRequest.limit + 1)) == .tooLarge(limit: 65_536))
        #expect(Self.fault(good + [UInt8](repeating: 10, count: 60_000)) == nil)
    }

    @Test func `a damaged request is refused or has the same key`() throws {
        var generator = SeededGenerator(seed: 7)
        let good = try ForgedRequest().der
        for _ in 0..<2000 {
            var der = good
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<der.count, using: &generator)
                der[index] = UInt8.random(in: 0...255, using: &generator)
            }
            if let request = try? CertificateRequest(PEMText.bytes("CERTIFICATE REQUEST", der)) {
                #expect(request.name == "door-7" && der == good)
            }
        }
    }
}
