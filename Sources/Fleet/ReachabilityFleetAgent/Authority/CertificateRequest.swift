import Crypto
import CryptoExtras
import LinuxSupport
import ReachabilityLedger
import ServerTrust
import SwiftASN1
import X509

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

    /// Whether a machine may be called so.
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
