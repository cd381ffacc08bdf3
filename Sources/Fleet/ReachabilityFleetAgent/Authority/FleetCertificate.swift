import Crypto
import CryptoExtras
import LinuxSupport
import ReachabilityLedger
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

/// Somebody's wish for a certificate, from a stranger (PKCS #10, RFC 2986). What has been read has a good signature and a good name.
package struct CertificateRequest: Sendable {
    /// The most bytes of one; those of RSA keys have some 2 KiB.
    package static let limit = 64 << 10
    /// Which names there are, in words. That is the rule of `FleetName`.
    package static let nameRule = "1 to 64 letters, digits, \".\", \"_\" and \"-\", the first a letter or digit"

    private static let type = "CERTIFICATE REQUEST"

    /// Its common name, all that is taken of it besides the key.
    package let name: String
    /// What else it has or asks for, in words; nothing of that gets into a certificate.
    package let passedOver: [String]
    let publicKey: Certificate.PublicKey

    /// Reads one in PEM.
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
        guard Self.isName(name) else { throw .name(name) }
        self.name = name
        publicKey = request.publicKey
        passedOver =
            (names.count > 1 ? ["the rest of its name"] : [])
            + (request.attributes.isEmpty ? [] : ["what it asks to have in its certificate"])
    }

    /// Reads one in a file.
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

    /// True if a machine may be called so.
    package static func isName(_ text: String) -> Bool { FleetName.isValid(text) }

    /// A request for a name, in PEM.
    ///
    /// - Throws: ``FleetCertificateError/unmade(_:)``.
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
            throw .unmade(error.plainText)
        }
    }
}

/// The number of a certificate, another for each that an authority issues (RFC 5280, 4.1.2.2).
package struct CertificateSerial: Hashable, Sendable, CustomStringConvertible {
    /// The highest first, without zeros before it.
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes.drop { $0 == 0 })
    }

    /// A new one by chance, of 16 bytes: no two are the same, and nobody can foresee one.
    package init() {
        let number = UInt128.random(in: 1 << 120..<1 << 127)
        bytes = stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt128($0)) }
    }

    /// Reads hexadecimal digits, also with a colon between each two, as OpenSSL prints them; nil where they are none.
    package init?(_ text: String) {
        let digits = text.replacing(scalars: ":", with: "")
        let padded = (digits.utf8.count % 2 == 0 ? "" : "0") + digits
        guard (1...40).contains(digits.utf8.count), let bytes = [UInt8](hexadecimal: padded.utf8) else { return nil }
        self.init(bytes)
    }

    /// Two lower case digits for each byte.
    package var description: String { bytes.hexadecimal() }
}

/// What certificates and lists are written in (DER, X.690): each function makes the bytes of one element.
///
/// The library that reads certificates makes them, too, but with times of Foundation, and makes no lists.
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

    /// With an explicit tag of its context.
    static func tagged(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { node(0xa0 | number, content) }

    /// A number that is not negative, from its bytes, the highest first.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        // A first bit that is set would make it negative.
        return node(0x02, (digits.first ?? 0x80) >= 0x80 ? [0] + digits : digits)
    }

    static func integer(_ number: Int) -> [UInt8] {
        integer(stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    /// A moment as certificates have it: with two digits of the year until 2049, with four from 2050 on (RFC 5280, 4.1.2.5).
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

    /// A body with a signature on it. The key is one on P-256.
    static func signed(_ body: [UInt8], by key: Certificate.PrivateKey) throws -> [UInt8] {
        let signature = try key.sign(bytes: body, signatureAlgorithm: .ecdsaWithSHA256)
        return sequence(body, try algorithm, node(0x03, [0] + signature.rawRepresentation))
    }

    /// ecdsa-with-SHA256 (RFC 5758, 3.2), which has no parameters.
    static var algorithm: [UInt8] {
        get throws { sequence(try value([1, 2, 840, 10045, 4, 3, 2] as ASN1ObjectIdentifier)) }
    }
}

/// Text with DER in it (PEM, RFC 7468).
enum PEMText {
    static func bytes(_ type: String, _ der: [UInt8]) -> [UInt8] {
        Array((PEMDocument(type: type, derBytes: der).pemString + "\n").utf8)
    }
}

extension Certificate.PrivateKey {
    private static let types = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]

    /// The key in a text, whatever stands around it; nil where there is none, or one with a passphrase.
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

    /// As text in PEM, for its owner's eyes.
    var text: [UInt8] {
        get throws(FleetCertificateError) {
            do { return Array((try serializeAsPEM().pemString + "\n").utf8) } catch { throw .unmade(error.plainText) }
        }
    }
}
