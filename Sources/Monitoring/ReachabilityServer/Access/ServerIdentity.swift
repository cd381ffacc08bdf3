import LinuxSupport
import NIOCore
import NIOSSL
import ReachabilityService
import ServerTrust
import ServerTrustNIO

/// What the service shows of itself over TLS, and whose clients it takes: read from the files of the configuration, and found to fit
/// together.
struct ServerIdentity: Sendable {
    /// The service's own.
    let certificate: TrustCertificate
    /// Whose clients may read without a token.
    let authorities: [TrustCertificate]
    /// For each connection.
    let context: NIOSSLContext

    /// Nil where nothing is said of a certificate.
    ///
    /// - Throws: All that is wrong, by key.
    init?(_ settings: AccessSettings) throws(ConfigurationProblems) {
        guard let certificate = settings.certificate, let key = settings.key else { return nil }
        let (chain, own): (TLSClientIdentity, TrustCertificate)
        do throws(ConfigurationProblem) {
            let (certificate, key) = (try Self.path("certificate", certificate), try Self.path("key", key))
            try Self.checkMode(key)
            do { chain = try TLSClientIdentity(certificateFile: certificate, keyFile: key) } catch {
                throw Self.problem(error, keyFile: key)
            }
            own = try Self.problem("certificate") {
                try TrustCertificate(derEncoded: try chain.certificateChain[0].toDERBytes())
            }
            if settings.hosts.isEmpty, own.subjectAlternativeNames.isEmpty {
                let text = "\(certificate.printable) is for no host (subjectAltName): get another, or say access.hosts"
                throw ConfigurationProblem(path: "access.certificate", text: text)
            }
            authorities =
                try settings.clients.map { file throws(ConfigurationProblem) in
                    let file = try Self.path("clients", file)
                    return try Self.problem("clients") { try CertificateFiles.read(file) }
                } ?? []
            let authorities = authorities
            context = try Self.problem("clients") { try Self.context(chain, authorities) }
        } catch {
            throw ConfigurationProblems([error])
        }
        self.certificate = own
    }

    /// The names and addresses the certificate is for.
    var names: [HostPattern] { certificate.subjectAlternativeNames.compactMap { try? HostPattern($0) } }

    /// Why the certificate is of no use at a time; nil where it is good then.
    func fault(at time: TrustTime) -> String? {
        if time > certificate.notAfter { return "the certificate ended on \(certificate.notAfter): get a new one" }
        if time < certificate.notBefore { return "the certificate begins on \(certificate.notBefore) only" }
        return nil
    }

    private static func path(_ key: String, _ name: String) throws(ConfigurationProblem) -> String {
        guard let path = CredentialFile.path(of: name) else {
            throw ConfigurationProblem(path: "access.\(key)", text: CredentialFile.missing(name))
        }
        return path
    }

    /// Whoever has the key can pass for the service.
    private static func checkMode(_ key: String) throws(ConfigurationProblem) {
        guard let text = CredentialFile.exposure(of: key, remedy: "get a new key") else { return }
        throw ConfigurationProblem(path: "access.key", text: text)
    }

    private static func context(_ own: TLSClientIdentity, _ authorities: [TrustCertificate]) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: own.certificateChain.map { .certificate($0) },
            privateKey: .privateKey(own.privateKey)
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // A client that does not say goodbye is not waited for.
        configuration.shutdownTimeout = .seconds(1)
        if !authorities.isEmpty {
            // Who shows none may have a token.
            configuration.certificateVerification = .optionalVerification
            configuration.trustRoots = .certificates(
                try authorities.map { try NIOSSLCertificate(bytes: $0.derRepresentation, format: .der) }
            )
            configuration.sendCANameList = true
        }
        return try NIOSSLContext(configuration: configuration)
    }

    private static func problem<Value>(_ key: String, _ body: () throws -> Value) throws(ConfigurationProblem) -> Value
    {
        do { return try body() } catch {
            throw ConfigurationProblem(path: "access.\(key)", text: "it cannot be used: \(error)".printable)
        }
    }

    private static func problem(_ error: TLSIdentityError, keyFile: String) -> ConfigurationProblem {
        let key =
            switch error {
            case .unreadable(keyFile, _), .empty(keyFile), .noKey, .keyMismatch, .passphraseMissing, .wrongPassphrase,
                .unsupportedPassphrase:
                "key"
            case .unreadable, .empty, .noCertificate, .unusableCertificate: "certificate"
            }
        var text = error.description
        if case .passphraseMissing(let file) = error {
            text = "the key of \(file) is encrypted: `openssl pkey -in FILE -out FILE` makes one that is not"
        }
        if case .noCertificate(let file) = error {
            text = "\(file) has no certificate that can be read: it must be in PEM, the service's own first"
        }
        return ConfigurationProblem(path: "access.\(key)", text: text.printable)
    }
}
