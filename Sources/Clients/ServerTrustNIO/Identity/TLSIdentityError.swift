/// Why files or texts make no identity of a client. `file` is the path, or says that text was given.
public enum TLSIdentityError: Error, Hashable, Sendable {
    /// The system does not let it be read; `cause` is what it said.
    case unreadable(file: String, cause: String)
    /// There is nothing in it.
    case empty(file: String)
    /// There is no certificate in PEM in it, or one that cannot be read.
    case noCertificate(file: String)
    /// The certificate can be read, but TLS cannot use it: other kinds of keys than RSA, EC and Ed25519. `cause` is what the TLS
    /// library said.
    case unusableCertificate(file: String, cause: String)
    /// There is no private key in PEM in it, or one that cannot be read.
    case noKey(file: String)
    /// The key is encrypted, and no passphrase was given.
    case passphraseMissing(file: String)
    /// The passphrase has bytes other than ASCII.
    case unsupportedPassphrase(file: String)
    /// The passphrase does not decrypt the key, or the key is damaged, or encrypted in a way that is not supported.
    case wrongPassphrase(file: String)
    /// The key is not the one the first certificate is for.
    case keyMismatch(certificateFile: String, keyFile: String)
}

extension TLSIdentityError: CustomStringConvertible {
    /// Which file, what is wrong with it, and what to do.
    public var description: String {
        switch self {
        case .unreadable(let file, let cause): "cannot read \(file): \(cause)"
        case .empty(let file): "\(file) is empty"
        case .noCertificate(let file):
            "\(file) has no certificate that can be read: it must be in PEM, the client's own first"
        case .unusableCertificate(let file, let cause):
            "the certificate of \(file) cannot be used with TLS: \(cause); it must be for an RSA, EC or Ed25519 key"
        case .noKey(let file): "\(file) has no private key that can be read: it must be in PEM"
        case .passphraseMissing(let file): "the key of \(file) is encrypted: give its passphrase"
        case .unsupportedPassphrase(let file):
            "the passphrase for the key of \(file) is not ASCII: encrypt the key again with one that is"
        case .wrongPassphrase(let file):
            "the key of \(file) cannot be decrypted: the passphrase is wrong, or the key is damaged or encrypted with an old "
                + "cipher (`openssl pkcs8 -topk8 -v2 aes-256-cbc` encrypts it anew)"
        case .keyMismatch(let certificateFile, let keyFile):
            "the key of \(keyFile) does not belong to the first certificate of \(certificateFile)"
        }
    }
}
