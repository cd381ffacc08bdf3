import LinuxSupport
package import ServerTrust
import SwiftASN1
import X509

/// A certificate of somebody in a fleet, as far as a fleet looks at it.
package struct FleetCertificate: Hashable, Sendable {
    /// What somebody may be in a fleet. The access control list of the broker knows the hub by its name.
    package enum Role: String, Hashable, Sendable {
        case device, hub, broker
    }

    /// The name of who hears every machine, and may ask it.
    package static let hub = "hub"

    static let type = "CERTIFICATE"

    /// Its only common name.
    package let name: String
    let certificate: TrustCertificate

    /// - Throws: The reason why it is none, in words.
    init(_ certificate: TrustCertificate) throws(UnusableCertificate) {
        let names = certificate.x509.subject.flatMap { Array($0) }.filter { $0.type == .NameAttributes.commonName }
        guard names.count == 1, let name = names.first.flatMap({ String($0.value) }) else {
            throw UnusableCertificate(why: "it has \(names.count) common names, and one machine has one")
        }
        (self.name, self.certificate) = (name, certificate)
    }

    init(der: [UInt8]) throws(UnusableCertificate) {
        let certificate: TrustCertificate
        do { certificate = try TrustCertificate(derEncoded: der) } catch {
            throw UnusableCertificate(why: error.description)
        }
        try self.init(certificate)
    }

    package var serial: CertificateSerial { CertificateSerial(certificate.x509.serialNumber.bytes) }

    /// What it lets its owner be: a server of TLS is the broker, whatever its name is.
    package var role: Role {
        if (try? certificate.x509.extensions.extendedKeyUsage)?.contains(.serverAuth) == true { return .broker }
        return name == Self.hub ? .hub : .device
    }

    package var life: CertificateLife { CertificateLife(begins: certificate.notBefore, ends: certificate.notAfter) }

    /// As text.
    package var pem: [UInt8] { PEMText.bytes(Self.type, certificate.derRepresentation) }

    /// Writes it to a file, which everybody may read.
    ///
    /// - Throws: ``FleetCertificateError/unwritable(path:_:)``.
    package func write(to path: String) throws(FleetCertificateError) {
        // A rename would put a file in the place of a device, such as /dev/stdout.
        guard !FileName.isTaken(path) || FileName.size(of: path) != nil else {
            throw .unwritable(path: path, .invalidArgument)
        }
        try FleetFile.write(path, pem, mode: 0o644)
    }

    /// Whether another's key has signed it, and it says so.
    func isIssued(by issuer: TrustCertificate) -> Bool { Self.isIssued(certificate, by: issuer) }

    static func isIssued(_ certificate: TrustCertificate, by issuer: TrustCertificate) -> Bool {
        let x509 = certificate.x509
        guard x509.issuer == issuer.x509.subject else { return false }
        return issuer.x509.publicKey.isValidSignature(x509.signature, for: x509)
    }
}

/// Why something is no certificate of a fleet, in words.
struct UnusableCertificate: Error {
    let why: String
}

/// How long a certificate is valid, and when to have another.
package struct CertificateLife: Hashable, Sendable {
    package let begins: TrustTime
    package let ends: TrustTime

    /// When two thirds of its life are over: there is time left then for a renewal that fails.
    package var renewal: TrustTime {
        TrustTime(
            secondsSinceEpoch: begins.secondsSinceEpoch + (ends.secondsSinceEpoch - begins.secondsSinceEpoch) / 3 * 2
        )
    }

    package func isDue(at now: TrustTime) -> Bool { now >= renewal }

    /// How much is left of it, or how long it has been over.
    package func text(at now: TrustTime) -> String {
        let seconds = ends.secondsSinceEpoch - now.secondsSinceEpoch
        guard seconds >= 0 else { return "expired since \(ends)" }
        return "valid until \(ends), \(seconds >= 86_400 ? "\(seconds / 86_400) d" : "\(seconds / 3600) h") from now"
    }

    /// What to tell somebody who uses the certificate in a file: nil as long as nothing is to be done, or nothing can be read.
    package static func advice(certificate path: String, at now: TrustTime) -> String? {
        guard let bytes = try? InputFile.read(path, limit: FleetFile.limit),
            let der = PEMBlocks.documents(in: bytes, type: FleetCertificate.type).first.flatMap(\.self),
            let certificate = try? TrustCertificate(derEncoded: der)
        else { return nil }
        let life = CertificateLife(begins: certificate.notBefore, ends: certificate.notAfter)
        guard life.isDue(at: now) else { return nil }
        return
            "the certificate \(path.printable) is \(life.text(at: now)): renew it with `reachability fleet enroll --renew`"
    }
}
