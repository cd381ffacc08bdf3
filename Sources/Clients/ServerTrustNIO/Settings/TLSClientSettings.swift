import LinuxSupport
public import NIOSSL

/// What a TLS client demands and shows, whoever the server is.
public struct TLSClientSettings: Sendable {
    /// The oldest version it speaks; TLS 1.3 is taken wherever the server knows it.
    public var minimumVersion = TLSMinimumVersion.tls12

    /// What may be spoken inside (ALPN, RFC 7301), the most wanted first: `h2`, `http/1.1`. None is offered if it is empty.
    public var applicationProtocols: [String] = []

    /// What it shows to servers that ask who it is (mutual TLS); nothing if nil.
    public var identity: TLSClientIdentity?

    /// How long `ServerTrustManager.evaluateOnline(_:forHost:)` is waited for; a server that is not trusted by then is
    /// refused with `TrustFailure.timedOut(_:)`.
    public var evaluationTimeLimit: Duration = .seconds(10)

    /// What keys are exchanged over; nil for what the TLS library offers.
    package var curves: [NIOTLSCurve]?

    /// All at their defaults.
    public init() {}
}

extension TLSClientSettings {
    /// The same for NIOSSL, which then checks neither chain nor host: whoever uses it must, in a callback.
    package func tlsConfiguration() throws(TLSSettingsError) -> TLSConfiguration {
        for name in applicationProtocols where !(1...255).contains(name.utf8.count) {
            throw .invalidApplicationProtocol(name)
        }
        guard evaluationTimeLimit > .zero else { throw .invalidTimeLimit(evaluationTimeLimit) }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = minimumVersion == .tls13 ? .tlsv13 : .tlsv12
        // A key exchange with RSA proves nothing before the end, and keeps no secret from who learns the key later (RFC 9325, 4.1).
        configuration.cipherSuites += ":!kRSA"
        configuration.certificateVerification = .noHostnameVerification
        // Else the machine's roots would be read and parsed a second time, for nobody.
        configuration.trustRoots = .certificates([])
        configuration.applicationProtocols = applicationProtocols
        configuration.curves = curves
        if let identity {
            configuration.certificateChain = identity.certificateChain.map { .certificate($0) }
            configuration.privateKey = .privateKey(identity.privateKey)
        }
        return configuration
    }
}

/// The oldest version of TLS a client speaks. The newest that both sides know is taken; anything before 1.2 is refused always
/// (RFC 8996).
public enum TLSMinimumVersion: String, Hashable, Sendable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
}

/// Why no TLS client can be made of its settings.
public enum TLSSettingsError: Error, Hashable, Sendable {
    /// The name of an application protocol is empty or longer than 255 bytes (RFC 7301, section 3.1).
    case invalidApplicationProtocol(String)

    /// An evaluation that may take no time trusts nobody.
    case invalidTimeLimit(Duration)

    /// The TLS library refuses the settings; the text is its own.
    case refused(String)
}

extension TLSSettingsError: CustomStringConvertible {
    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .invalidApplicationProtocol(let name):
            "\"\(name)\" cannot be offered as application protocol: it must have 1 to 255 bytes"
        case .invalidTimeLimit(let limit):
            "the time limit of evaluations is \(limit), and no server is trusted in no time: give more"
        case .refused(let cause): "the TLS library does not take the settings: \(cause)"
        }
    }
}

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
