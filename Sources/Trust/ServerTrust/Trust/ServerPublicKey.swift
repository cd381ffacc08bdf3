/// The public key of a certificate, as it is encoded there (SubjectPublicKeyInfo, RFC 5280, 4.1).
///
/// It stands where `SecKey` stands on other systems. Two certificates with the same key, a renewed one for example, have equal
/// keys.
public struct ServerPublicKey: Hashable, Sendable {
    /// Algorithm and key in DER.
    public let subjectPublicKeyInfo: [UInt8]

    /// A key in DER, for example what `openssl pkey -pubout -outform DER` prints. Nothing is checked: bytes that are no key
    /// equal no key.
    public init(subjectPublicKeyInfo: [UInt8]) {
        self.subjectPublicKeyInfo = subjectPublicKeyInfo
    }
}
