import LinuxSupport
public import NIOSSL

/// What a client shows to servers that ask who it is: its certificate, those of authorities above it, and its key (mutual TLS).
///
/// It has been read and found to fit together when this exists; no connection is needed to learn of a wrong file. Whether a server
/// takes it is the server's affair.
public struct TLSClientIdentity: Sendable {
    /// The client's own certificate first.
    public let certificateChain: [NIOSSLCertificate]

    /// Of the first certificate.
    public let privateKey: NIOSSLPrivateKey

    /// Larger files are none of ours.
    private static let limit = 1 << 20

    /// Reads both from files in PEM, which may be one and the same. It blocks the thread until they are read.
    ///
    /// - Parameters:
    ///   - certificateFile: The client's certificate, then those of the authorities above it; the root may be left out.
    ///   - keyFile: Its key: PKCS #8, encrypted or not, or the older forms of RSA and EC.
    ///   - passphrase: Of an encrypted key, in ASCII. It is not kept.
    /// - Throws: ``TLSIdentityError``, which names the file.
    public init(
        certificateFile: String,
        keyFile: String,
        passphrase: [UInt8]? = nil
    ) throws(TLSIdentityError) {
        try self.init(
            certificates: PEMInput(name: certificateFile, bytes: try Self.content(certificateFile)),
            key: PEMInput(name: keyFile, bytes: try Self.content(keyFile)),
            passphrase: passphrase
        )
    }

    /// Reads both from text in PEM.
    ///
    /// - Parameters:
    ///   - certificatePEM: The client's certificate, then those of the authorities above it; the root may be left out.
    ///   - keyPEM: Its key.
    ///   - passphrase: Of an encrypted key, in ASCII. It is not kept.
    /// - Throws: ``TLSIdentityError``.
    public init(certificatePEM: [UInt8], keyPEM: [UInt8], passphrase: [UInt8]? = nil) throws(TLSIdentityError) {
        try self.init(
            certificates: PEMInput(name: "the text given", bytes: certificatePEM),
            key: PEMInput(name: "the text given", bytes: keyPEM),
            passphrase: passphrase
        )
    }

    private init(certificates: PEMInput, key: PEMInput, passphrase: [UInt8]?) throws(TLSIdentityError) {
        certificateChain = try certificates.certificates()
        privateKey = try key.privateKey(passphrase: passphrase)
        try Self.check(certificateChain, from: certificates.name)
        try Self.check(certificateChain, privateKey, from: certificates.name, keyFile: key.name)
    }

    private static func content(_ path: String) throws(TLSIdentityError) -> [UInt8] {
        do {
            return try InputFile.read(path, limit: limit)
        } catch {
            throw .unreadable(file: path, cause: error.description)
        }
    }

    /// Whether the TLS library can show the certificates at all.
    private static func check(_ chain: [NIOSSLCertificate], from name: String) throws(TLSIdentityError) {
        do {
            _ = try context(chain, key: nil)
        } catch {
            throw .unusableCertificate(file: name, cause: "\(error)")
        }
    }

    /// Whether they also go with the key, which the library compares.
    private static func check(
        _ chain: [NIOSSLCertificate],
        _ key: NIOSSLPrivateKey,
        from name: String,
        keyFile: String
    ) throws(TLSIdentityError) {
        do {
            _ = try context(chain, key: key)
        } catch {
            throw .keyMismatch(certificateFile: name, keyFile: keyFile)
        }
    }

    private static func context(_ chain: [NIOSSLCertificate], key: NIOSSLPrivateKey?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([])
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = key.map { .privateKey($0) }
        return try NIOSSLContext(configuration: configuration)
    }
}
