import Crypto
import LinuxSupport

/// The SHA-256 of a public key as it is encoded in certificates, in the form of curl and OkHttp: `sha256/` and 44 characters of
/// Base64. The hash is that of RFC 7469, section 2.4.
///
/// ```sh
/// openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
/// ```
public struct PublicKeyPin: Hashable, Sendable {
    /// The 32 bytes.
    public let digest: [UInt8]

    /// The pin of a key.
    public init(_ key: ServerPublicKey) {
        digest = Array(SHA256.hash(data: key.subjectPublicKeyInfo))
    }

    /// The pin of a certificate's key: it stays when the certificate is renewed with the same key.
    public init(_ certificate: TrustCertificate) {
        self.init(certificate.publicKey)
    }

    /// Reads `sha256/BASE64`, or `sha256//BASE64` as curl has it.
    ///
    /// - Throws: ``PinError/notAPin(_:)`` for everything else, so also for `sha1/`.
    public init(_ text: String) throws(PinError) {
        guard text.hasPrefix("sha256/") else { throw .notAPin(text) }
        let encoded = text.dropFirst(text.hasPrefix("sha256//") ? 8 : 7)
        // The canonical text alone: 43 characters and one for filling.
        guard let bytes = Base64.decode(encoded), bytes.count == 32, Base64.encode(bytes) == encoded else {
            throw .notAPin(text)
        }
        digest = bytes
    }
}

extension PublicKeyPin: CustomStringConvertible {
    /// `sha256/` and Base64.
    public var description: String { "sha256/" + Base64.encode(digest) }
}

/// Why pins cannot be used.
public enum PinError: Error, Hashable, Sendable {
    /// The text is no pin.
    case notAPin(String)
    /// A pin set without pins would trust nobody.
    case empty
    /// There is one pin alone: when its key is lost or stolen, no client can be reached any more.
    case backupPinMissing
}

extension PinError: CustomStringConvertible {
    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .notAPin(let text):
            "\"\(text)\" is no pin: write sha256/ and the 44 characters of Base64 that stand for the SHA-256 of the key"
        case .empty: "the pin set is empty: give two pins at least"
        case .backupPinMissing:
            "the pin set has one pin and no backup: add the pin of a key that is kept elsewhere, or say that none is wanted"
        }
    }
}
