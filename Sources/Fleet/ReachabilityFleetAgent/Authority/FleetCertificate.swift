import Crypto
import CryptoExtras
import LinuxSupport
package import ServerTrust
import SwiftASN1
import X509

/// A certificate of a machine, the hub, the broker or the authority of a fleet.
package struct FleetCertificate: Hashable, Sendable {
    /// The role of a certificate. The access control list of the broker identifies the hub by its name.
    package enum Role: String, Hashable, Sendable {
        case device, hub, broker
    }

    /// The name of the hub, which may read the messages of all machines and send them commands.
    package static let hub = "hub"

    static let type = "CERTIFICATE"

    /// The only common name of the certificate.
    package let name: String
    let certificate: TrustCertificate

    init(_ certificate: TrustCertificate) throws(UnusableCertificate) {
        let names = certificate.x509.subject.flatMap { Array($0) }.filter { $0.type == .NameAttributes.commonName }
        guard names.count == 1, let name = names.first.flatMap({ String($0.value) }) else {
            throw UnusableCertificate(why: "it has \(names.count) common names instead of one")
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

    /// The role that the certificate permits. A certificate for a TLS server is that of the broker, whatever its name
    /// is.
    package var role: Role {
        if (try? certificate.x509.extensions.extendedKeyUsage)?.contains(.serverAuth) == true { return .broker }
        return name == Self.hub ? .hub : .device
    }

    package var life: CertificateLife { CertificateLife(begins: certificate.notBefore, ends: certificate.notAfter) }

    /// The certificate in PEM.
    package var pem: [UInt8] { PEMText.bytes(Self.type, certificate.derRepresentation) }

    /// Writes the certificate to a file with mode 0644.
    ///
    /// - Throws: ``FleetCertificateError/unwritable(path:_:)``.
    package func write(to path: String) throws(FleetCertificateError) {
        // A rename would replace a device such as /dev/stdout by a file.
        guard !FileName.isTaken(path) || FileName.size(of: path) != nil else {
            throw .unwritable(path: path, .invalidArgument)
        }
        try FleetFile.write(path, pem, mode: 0o644)
    }

    /// True if the issuer's name is that of the other certificate, and the other certificate's key has signed this one.
    func isIssued(by issuer: TrustCertificate) -> Bool { Self.isIssued(certificate, by: issuer) }

    static func isIssued(_ certificate: TrustCertificate, by issuer: TrustCertificate) -> Bool {
        let x509 = certificate.x509
        guard x509.issuer == issuer.x509.subject else { return false }
        return issuer.x509.publicKey.isValidSignature(x509.signature, for: x509)
    }
}

/// The reason why a certificate or a key cannot be used in a fleet.
struct UnusableCertificate: Error {
    let why: String
}

/// The validity of a certificate, and the time of its renewal.
package struct CertificateLife: Hashable, Sendable {
    package let begins: TrustTime
    package let ends: TrustTime

    /// The time at which two thirds of the validity have passed. The rest is a reserve for renewals that fail.
    package var renewal: TrustTime {
        TrustTime(
            secondsSinceEpoch: begins.secondsSinceEpoch + (ends.secondsSinceEpoch - begins.secondsSinceEpoch) / 3 * 2
        )
    }

    package func isDue(at now: TrustTime) -> Bool { now >= renewal }

    /// Returns the remaining validity, or the time of expiry.
    package func text(at now: TrustTime) -> String {
        let seconds = ends.secondsSinceEpoch - now.secondsSinceEpoch
        guard seconds >= 0 else { return "expired at \(ends)" }
        return "valid until \(ends), \(seconds >= 86_400 ? "\(seconds / 86_400) d" : "\(seconds / 3600) h") from now"
    }

    /// Returns the log message for a certificate that has to be renewed; nil if it is not due, or if the file cannot be
    /// read.
    package static func advice(certificate path: String, at now: TrustTime) -> String? {
        guard let bytes = try? InputFile.read(path, limit: FleetFile.limit),
            let der = PEMBlocks.documents(in: bytes, type: FleetCertificate.type).first.flatMap(\.self),
            let certificate = try? TrustCertificate(derEncoded: der)
        else { return nil }
        let life = CertificateLife(begins: certificate.notBefore, ends: certificate.notAfter)
        guard life.isDue(at: now) else { return nil }
        return
            "the certificate \(path.printable): \(life.text(at: now)); renew it with `reachability fleet enroll --renew`"
    }
}

/// A certificate request from an untrusted source (PKCS #10, RFC 2986). The signature and the name have been checked.
package struct CertificateRequest: Sendable {
    /// The maximum size of a request, in bytes. A request with an RSA key has about 2 KiB.
    package static let limit = 64 << 10

    private static let type = "CERTIFICATE REQUEST"

    /// The common name. Only the name and the key of a request are used.
    package let name: String
    /// Descriptions of the other parts of the request. They do not get into the certificate.
    package let passedOver: [String]
    let publicKey: Certificate.PublicKey

    /// Reads a request in PEM.
    package init(_ bytes: [UInt8]) throws(RequestFault) {
        guard bytes.count <= Self.limit else { throw .tooLarge(limit: Self.limit) }
        let blocks = PEMBlocks.documents(in: bytes, type: Self.type)
        guard blocks.count == 1, let block = blocks.first else { throw .count(blocks.count) }
        guard let block else { throw .unreadable("its PEM cannot be decoded") }
        let request: CertificateSigningRequest
        do { request = try CertificateSigningRequest(derEncoded: block) } catch { throw .unreadable(error.plainText) }
        if let key = _RSA.Signing.PublicKey(request.publicKey), key.keySizeInBits < 2048 {
            throw .unreadable("its key has \(key.keySizeInBits) bits")
        }
        guard request.publicKey.isValidSignature(request.signature, for: request) else { throw .signature }
        let names = request.subject.flatMap { Array($0) }
        let common = names.filter { $0.type == .NameAttributes.commonName }
        guard common.count == 1, let only = common.first else { throw .names(common.count) }
        guard let name = String(only.value) else { throw .name("\(only.value)") }
        guard FleetName.isValid(name) else { throw .name(name) }
        self.name = name
        publicKey = request.publicKey
        passedOver =
            (names.count > 1 ? ["the rest of the name"] : [])
            + (request.attributes.isEmpty ? [] : ["the requested extensions"])
    }

    /// Reads a request from a file.
    package init(file path: String) throws(FleetCertificateError) {
        let bytes: [UInt8]
        do {
            bytes = try InputFile.read(path, limit: Self.limit)
        } catch .fileTooLarge {
            throw .request(.tooLarge(limit: Self.limit))
        } catch {
            throw .unreadable(path: path, error)
        }
        do throws(RequestFault) { try self.init(bytes) } catch { throw .request(error) }
    }

    /// Returns a request for a name, in PEM.
    ///
    /// - Throws: ``FleetCertificateError/encodingFailed(_:)``.
    static func text(name: String, key: Certificate.PrivateKey) throws(FleetCertificateError) -> [UInt8] {
        do {
            let request = try CertificateSigningRequest(
                version: .v1,
                subject: try DistinguishedName { CommonName(name) },
                privateKey: key,
                attributes: CertificateSigningRequest.Attributes()
            )
            return PEMText.bytes(type, try DERBytes.value(request))
        } catch {
            throw .encodingFailed(error.plainText)
        }
    }
}

/// The serial number of a certificate, unique for each authority (RFC 5280, 4.1.2.2).
package struct CertificateSerial: Hashable, Sendable, CustomStringConvertible {
    /// The bytes in big-endian order, without leading zeros.
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes.drop { $0 == 0 })
    }

    /// Creates a random serial number of 16 bytes. It is unique and cannot be predicted.
    package init() {
        let number = UInt128.random(in: 1 << 120..<1 << 127)
        bytes = stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt128($0)) }
    }

    /// Reads hexadecimal digits, with or without colons between bytes, as OpenSSL prints them. Returns nil for any
    /// other text.
    package init?(_ text: String) {
        let digits = text.replacing(scalars: ":", with: "")
        let padded = (digits.utf8.count % 2 == 0 ? "" : "0") + digits
        guard (1...40).contains(digits.utf8.count), let bytes = [UInt8](hexadecimal: padded.utf8) else { return nil }
        self.init(bytes)
    }

    /// The bytes as lower-case hexadecimal digits.
    package var description: String { bytes.hexadecimal() }
}

/// An encoder of DER (X.690). Each function returns the bytes of one element.
///
/// The library that decodes certificates can also encode them, but it uses times of Foundation and cannot create
/// revocation lists.
enum DERBytes {
    static func node(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap(\.self)
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        var (length, digits) = (content.count, [UInt8]())
        while length > 0 {
            digits.insert(UInt8(truncatingIfNeeded: length), at: 0)
            length >>= 8
        }
        return [tag, 0x80 | UInt8(digits.count)] + digits + content
    }

    static func sequence(_ content: [UInt8]...) -> [UInt8] { node(0x30, content.flatMap(\.self)) }

    /// Encodes an element with an explicit context-specific tag.
    static func tagged(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { node(0xa0 | number, content) }

    /// Encodes a number that is not negative, from its big-endian bytes.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        // If the first bit were set, the number would be negative.
        return node(0x02, (digits.first ?? 0x80) >= 0x80 ? [0] + digits : digits)
    }

    static func integer(_ number: Int) -> [UInt8] {
        integer(stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    /// Encodes a time: with a two-digit year until 2049 (UTCTime), with a four-digit year from 2050 (GeneralizedTime).
    /// RFC 5280, 4.1.2.5.
    static func time(_ time: TrustTime) -> [UInt8] {
        let digits = time.description.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let text = digits + [UInt8(ascii: "Z")]
        return time < TrustTime(year: 2050, month: 1, day: 1) ? node(0x17, Array(text.dropFirst(2))) : node(0x18, text)
    }

    static func value(_ value: some DERSerializable) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(value)
        return serializer.serializedBytes
    }

    static func extensions(_ extensions: [Certificate.Extension]) throws -> [UInt8] {
        sequence(try extensions.flatMap { try value($0) })
    }

    /// Encodes a body with its signature. The key must be on P-256.
    static func signed(_ body: [UInt8], by key: Certificate.PrivateKey) throws -> [UInt8] {
        let signature = try key.sign(bytes: body, signatureAlgorithm: .ecdsaWithSHA256)
        return sequence(body, try algorithm, node(0x03, [0] + signature.rawRepresentation))
    }

    /// The algorithm identifier ecdsa-with-SHA256 (RFC 5758, 3.2), which has no parameters.
    static var algorithm: [UInt8] {
        get throws { sequence(try value([1, 2, 840, 10045, 4, 3, 2] as ASN1ObjectIdentifier)) }
    }
}

/// An encoder of PEM (RFC 7468).
enum PEMText {
    static func bytes(_ type: String, _ der: [UInt8]) -> [UInt8] {
        Array((PEMDocument(type: type, derBytes: der).pemString + "\n").utf8)
    }
}

extension Certificate.PrivateKey {
    private static let types = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]

    /// Reads the first private key of a PEM text. Returns nil if there is no valid key, or if the key has a passphrase.
    init?(in text: [UInt8]) {
        for type in Self.types {
            guard let der = PEMBlocks.documents(in: text, type: type).first.flatMap(\.self),
                let key = try? Self(pemDocument: PEMDocument(type: type, derBytes: der))
            else { continue }
            self = key
            return
        }
        return nil
    }

    /// The key in PEM. The text is secret.
    var text: [UInt8] {
        get throws(FleetCertificateError) {
            do { return Array((try serializeAsPEM().pemString + "\n").utf8) } catch {
                throw .encodingFailed(error.plainText)
            }
        }
    }
}
