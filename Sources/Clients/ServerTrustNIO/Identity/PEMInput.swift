import LinuxSupport
import NIOSSL

/// Text in PEM (RFC 7468), and the name that errors give it.
struct PEMInput {
    let name: String
    let bytes: [UInt8]

    /// Every certificate in it, in order; at least one.
    func certificates() throws(TLSIdentityError) -> [NIOSSLCertificate] {
        guard !isBlank else { throw .empty(file: name) }
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
        } catch {
            throw .noCertificate(file: name)
        }
        guard !certificates.isEmpty else { throw .noCertificate(file: name) }
        return certificates
    }

    /// The first key in it.
    func privateKey(passphrase: [UInt8]?) throws(TLSIdentityError) -> NIOSSLPrivateKey {
        guard !isBlank else { throw .empty(file: name) }
        guard isEncrypted else {
            do {
                return try NIOSSLPrivateKey(bytes: bytes, format: .pem)
            } catch {
                throw .noKey(file: name)
            }
        }
        guard let passphrase else { throw .passphraseMissing(file: name) }
        // NIOSSL's reading of others depends on the machine, and may trap.
        guard passphrase.allSatisfy({ $0 > 0 && $0 < 0x80 }) else { throw .unsupportedPassphrase(file: name) }
        do {
            return try NIOSSLPrivateKey(bytes: bytes, format: .pem) { (set: NIOSSLPassphraseSetter<[UInt8]>) in
                set(passphrase)
            }
        } catch {
            throw .wrongPassphrase(file: name)
        }
    }

    private var isBlank: Bool { bytes.allSatisfy { $0 == 0x20 || (0x09...0x0d).contains($0) } }

    /// PKCS #8 says so in the label (RFC 7468, 11), the older forms in a header (RFC 1421, 4.6.1.1).
    private var isEncrypted: Bool {
        String(decoding: bytes, as: UTF8.self).lines.contains { line in
            line.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----")
                || line.hasPrefix("Proc-Type:") && line.hasSuffix("ENCRYPTED")
        }
    }
}
