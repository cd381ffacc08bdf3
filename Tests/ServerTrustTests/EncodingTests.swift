import Crypto
import NetworkLab
import SwiftASN1
import TestSupport
import Testing
import TrustForge

@testable import ServerTrust

/// RSA algorithm identifiers without the required NULL. Such certificates can be read and pinned, but no chain with
/// them is valid.
@Suite struct EncodingTests {
    private static let selfSigned = Blueprint.leaf("AltName", names: [.dnsName("foobar.com")])
        .with(\.key, .rsa2048[0]).signed()

    private static func expectRefusal(
        _ evaluator: some ServerTrustEvaluating,
        _ trust: ServerTrust,
        of subject: String
    ) {
        let error = #expect(throws: ServerTrustError.self) { try evaluator.evaluate(trust, forHost: trust.host ?? "") }
        guard case .nonconformingEncoding(subject, let detail)? = error?.reason else {
            Issue.record("another reason: \(String(describing: error))")
            return
        }
        #expect(detail.contains("RFC"))
        #expect(error.map { "\($0)" }?.contains("it can be pinned, but no chain with it is valid") == true)
    }

    @Test(arguments: LackingParameters.allCases)
    func `certificates without NULL can be read and pinned`(_ place: LackingParameters) throws {
        let forged = Self.selfSigned.lacking(place)
        let certificate = try TrustCertificate(derEncoded: forged.der)
        #expect(certificate.description == "AltName")
        #expect(certificate.subjectAlternativeNames == ["foobar.com"])
        #expect(certificate.derRepresentation == forged.der)
        #expect(certificate.isSigned(by: certificate))
        // The pin is the hash of the key as encoded in the certificate, so a key without NULL has another pin.
        let key = certificate.publicKey.subjectPublicKeyInfo
        #expect(forged.der.indices.contains { forged.der[$0...].starts(with: key) })
        #expect(PublicKeyPin(certificate).digest == Array(SHA256.hash(data: key)))
        let isChanged = place == .key || place == .keyAndOutside
        #expect((certificate.publicKey != Self.selfSigned.certificate.publicKey) == isChanged)

        let trust = try ServerTrust([forged], anchors: [], host: "foobar.com")
        try DisabledTrustEvaluator().evaluate(trust, forHost: "foobar.com")
        try PublicKeysTrustEvaluator(
            keys: [certificate.publicKey],
            performDefaultValidation: false,
            validateHost: false
        )
        .evaluate(trust, forHost: "foobar.com")
        try PinnedCertificatesTrustEvaluator(
            certificates: [certificate],
            performDefaultValidation: false,
            validateHost: false
        ).evaluate(trust, forHost: "foobar.com")
        var policy = AFSecurityPolicy(pinningMode: .publicKey, withPinnedCertificates: [certificate])
        policy.allowInvalidCertificates = true
        #expect(policy.evaluateServerTrust(trust, forDomain: "foobar.com"))
    }

    @Test(arguments: LackingParameters.allCases)
    func `no chain with such a certificate is valid`(_ place: LackingParameters) throws {
        let alone = Self.selfSigned.lacking(place)
        let trust = try ServerTrust([alone], anchors: [alone], host: "foobar.com")
        Self.expectRefusal(DefaultTrustEvaluator(), trust, of: "AltName")
        Self.expectRefusal(
            PinnedCertificatesTrustEvaluator(certificates: [alone.certificate], acceptSelfSignedCertificates: true),
            trust,
            of: "AltName"
        )
        Self.expectRefusal(PublicKeysTrustEvaluator(keys: [alone.certificate.publicKey]), trust, of: "AltName")

        let leaf = World.rsaLeaf.lacking(place, signedBy: World.rsaIntermediate.key)
        let server = try ServerTrust([leaf, World.rsaIntermediate], anchors: [World.rsaRoot], host: World.host)
        Self.expectRefusal(DefaultTrustEvaluator(), server, of: World.host)
        let authority = World.rsaIntermediate.lacking(place, signedBy: World.rsaRoot.key)
        let below = try ServerTrust([World.rsaLeaf, authority], anchors: [World.rsaRoot], host: World.host)
        Self.expectRefusal(DefaultTrustEvaluator(), below, of: "RSA Intermediate")
        let root = try ServerTrust(
            [World.rsaLeaf, World.rsaIntermediate],
            anchors: [World.rsaRoot.lacking(place)],
            host: World.host
        )
        Self.expectRefusal(DefaultTrustEvaluator(), root, of: "RSA Root")
    }

    /// Parameters other than NULL denote another algorithm.
    @Test(arguments: [[0x02, 0x01, 0x00], [0x05, 0x00, 0x05, 0x00], [0x30, 0x00]] as [[UInt8]])
    func `a certificate with other algorithm parameters is not read`(_ parameters: [UInt8]) {
        let good = Self.selfSigned
        let algorithm = Encoded.identifier([1, 2, 840, 113_549, 1, 1, 11])
        let label = Encoded.sequence(algorithm, parameters)
        let body = Array(good.certificate.fields.body)
        let der = Encoded.signed(body, by: good.key, algorithm: .sha256WithRSAEncryption, label: label)
        #expect(throws: TrustCertificateError.self) { try TrustCertificate(derEncoded: der) }
    }

    @Test(.enabled(if: OpenSSL.isInstalled, "openssl is not installed"), arguments: LackingParameters.allCases)
    func `openssl reads the same key`(_ place: LackingParameters) throws {
        let directory = ScratchDirectory()
        let forged = Self.selfSigned.lacking(place)
        let file = try directory.write("a.pem", PEM.text([forged.der]))
        let result = try LabProcess("openssl", ["x509", "-in", file, "-noout", "-subject", "-modulus"]).wait()
        let good = try directory.write("b.pem", PEM.text([Self.selfSigned.der]))
        let expected = try LabProcess("openssl", ["x509", "-in", good, "-noout", "-subject", "-modulus"]).wait()
        #expect(result.status == 0)
        #expect(result.output == expected.output)
    }

    @Test func `files of a directory that cannot be read are skipped with a warning`() throws {
        let directory = ScratchDirectory()
        let forged = LackingParameters.allCases.map { Self.selfSigned.lacking($0) }
        for (index, forged) in forged.enumerated() { try directory.write("\(index).cer", forged.der) }
        let log = RecordingLog()
        #expect(ServerTrustPolicy.certificates(in: directory.path, logger: log.logger) == forged.map(\.certificate))
        #expect(log.lines.isEmpty)

        try directory.write("a.der", [1, 2, 3])
        try directory.write("b\u{1b}.pem", PEM.text([World.leaf.der, [0x30, 0x00]]))
        try directory.write("c.txt", [1, 2, 3])
        #expect(ServerTrustPolicy.certificates(in: directory.path, logger: log.logger).count == forged.count + 1)
        #expect(log.lines.count == 2)
        #expect(log.lines[0].hasPrefix("warning: skipped a certificate in \(directory.path)/a.der: cannot read"))
        #expect(log.lines[1].contains("b\\u{1b}.pem"))
        #expect(ServerTrustPolicy.publicKeys(in: directory.path + "/none", logger: log.logger).isEmpty)
        #expect(log.lines.count == 3)
        #expect(log.lines[2].contains("No such file or directory"))
    }

    /// The message does not contain the source location that the library reports.
    @Test func `a parse error is reported without internals of the parser`() throws {
        let damaged: [[UInt8]] = [
            [], [0x30], [0x30, 3, 1, 2], [0x30, 0x03, 0x61, 0x62, 0x63], Array(World.leaf.der.dropLast(9)),
            World.leaf.der.map { $0 == 0x17 ? 0x16 : $0 }, World.leaf.der + [0],
        ]
        for bytes in damaged {
            let error = #expect(throws: TrustCertificateError.self) { try TrustCertificate(derEncoded: bytes) }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.hasPrefix("cannot read the certificate: "))
            let ends = [":", ": "].contains { text.hasSuffix($0) }
            #expect(!text.contains("Error.") && !text.contains(".swift") && !ends, "\(text)")
        }
    }
}
