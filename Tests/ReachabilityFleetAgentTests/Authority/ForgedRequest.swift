import Crypto
import CryptoExtras
import LinuxSupport
import ServerTrust
import SwiftASN1
import TrustForge
import X509

@testable import ReachabilityFleetAgent

/// A certificate request with arbitrary content, valid by default.
struct ForgedRequest {
    var key = ForgeKey.p256("door").key
    var subject: [(ASN1ObjectIdentifier, String)] = [(.NameAttributes.commonName, "door-7")]
    /// The requested host names.
    var hosts: [String] = []
    /// The key that signs instead.
    var signer: Certificate.PrivateKey?

    init(_ names: String...) { if !names.isEmpty { subject = names.map { (.NameAttributes.commonName, $0) } } }

    var der: [UInt8] {
        get throws {
            let name = try DistinguishedName(
                subject.map { RelativeDistinguishedName.Attribute(type: $0.0, utf8String: $0.1) }
            )
            var attributes: [CertificateSigningRequest.Attribute] = []
            if !hosts.isEmpty {
                let names = SubjectAlternativeNames(hosts.map { .dnsName($0) })
                let extensions = try Certificate.Extensions([try Certificate.Extension(names, critical: false)])
                attributes.append(try CertificateSigningRequest.Attribute(ExtensionRequest(extensions: extensions)))
            }
            let good = try CertificateSigningRequest(
                version: .v1,
                subject: name,
                privateKey: key,
                attributes: .init(attributes)
            )
            guard let signer else { return try DERBytes.value(good) }
            let other = try CertificateSigningRequest(
                version: .v1,
                subject: name,
                privateKey: signer,
                attributes: .init(attributes)
            )
            return try DERBytes.value(
                try CertificateSigningRequest(
                    version: .v1,
                    subject: name,
                    publicKey: key.publicKey,
                    attributes: .init(attributes),
                    signatureAlgorithm: other.signatureAlgorithm,
                    signature: other.signature
                )
            )
        }
    }

    var pem: [UInt8] { get throws { PEMText.bytes("CERTIFICATE REQUEST", try der) } }

    var request: CertificateRequest { get throws { try CertificateRequest(try pem) } }
}

/// An authority, and the time of the test.
enum Fleet {
    static let now = TrustTime(year: 2026, month: 11, day: 25, hour: 12)
    static let day = Duration.seconds(86_400)

    static func authority(name: String = "Fleet", validity: Duration = day * 3652) throws -> FleetAuthority {
        try FleetAuthority.make(name: name, validity: validity, serial: serial(), now: now)
    }

    static func serial() -> CertificateSerial { CertificateSerial() }

    static func certificate(
        _ request: ForgedRequest = ForgedRequest(),
        by authority: FleetAuthority,
        for purpose: CertificatePurpose = .device,
        validity: Duration = day * 90,
        now: TrustTime = now
    ) throws -> FleetCertificate {
        try authority.sign(
            try request.request,
            for: purpose,
            validity: validity,
            serial: serial(),
            now: now
        )
    }

    /// Runs a function, and returns the error that it throws.
    static func error(_ body: () throws -> Void) -> FleetCertificateError? {
        do { try body() } catch { return error as? FleetCertificateError }
        return nil
    }
}
