import LinuxSupport
import NIOCore
package import NIOSSL
package import ReachabilityService
package import ServerTrust
import ServerTrustNIO

/// The current access rules and TLS identity. Thread-safe.
package final class Access: Sendable {
    private struct State {
        var settings = AccessSettings()
        var identity: ServerIdentity?
        var rules = AccessRules()
    }

    private let now: @Sendable () -> TrustTime
    private let warn: @Sendable (String) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - now: Returns the time for which the validity of certificates is checked.
    ///   - warn: Receives warnings about settings that are wrong but still used.
    package init(
        now: @escaping @Sendable () -> TrustTime = { .now },
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.now, self.warn) = (now, warn)
    }

    /// The current access rules.
    var rules: AccessRules { state.withLock(\.rules) }

    /// Applies the access rules to a request, and stores its token in it.
    ///
    /// - Parameter isPage: True if the path is a page of the dashboard.
    /// - Throws: ``Problem`` if the request is not allowed.
    package func admit(_ request: inout WebRequest, isPage: Bool) throws(Problem) {
        let rules = rules
        rules.useProxy(of: &request)
        request.token = try rules.admit(request, isPage: isPage)
    }

    /// Applies the access rules to a push, whose own token the handler checks. The token of an administrator is stored in the request.
    ///
    /// - Throws: ``Problem`` if the request comes from a page of another site.
    func admitPush(_ request: inout WebRequest) throws(Problem) {
        let rules = rules
        rules.useProxy(of: &request)
        try rules.checkHost(request, isPage: false)
        request.token = try? rules.admit(request)
    }

    /// A Boolean value that indicates whether a token permits changes.
    var hasAdministrator: Bool { rules.tokens.contains { $0.scope == .admin } }

    /// The segments of the path at which a reverse proxy publishes the server.
    var basePath: [String] { state.withLock(\.settings.basePath) }

    /// The TLS context of new connections; nil without a certificate.
    package var tls: NIOSSLContext? { state.withLock(\.identity?.context) }

    /// The end of the validity of the certificate; nil without a certificate.
    var certificateEnd: TrustTime? { state.withLock(\.identity?.certificate.notAfter) }

    /// Reads the files that a configuration names and checks its listen addresses.
    ///
    /// A certificate that is expired or not yet valid is used with a warning, because the clock may be wrong.
    ///
    /// - Returns: A function that applies the configuration. It returns true if a client may have lost its access, so that existing TLS
    ///   connections have to end.
    package func prepare(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Bool {
        try ListenAddress.check(configuration.listen)
        let settings = configuration.access
        let identity = try ServerIdentity(settings)
        if let fault = identity?.fault(at: now()) { warn(fault) }
        return { [state] in
            state.withLock { state in
                let authorities = (state.identity?.authorities ?? [], identity?.authorities ?? [])
                let isOther = state.settings != settings || authorities.0 != authorities.1
                state = State(
                    settings: settings,
                    identity: identity,
                    rules: AccessRules(
                        hosts: settings.hosts + (identity?.names ?? []),
                        tokens: settings.tokens,
                        proxies: settings.proxies
                    )
                )
                return isOther
            }
        }
    }

    /// Checks a configuration without applying it. If this user cannot read the files, such as systemd credentials, they are not checked.
    package func check(_ configuration: ServiceConfiguration) throws(ConfigurationProblems) {
        let settings = configuration.access
        let files = [settings.certificate, settings.key, settings.clients].compactMap(\.self)
        if files.contains(where: { !CredentialFile.isReadable($0) }) {
            try ListenAddress.check(configuration.listen)
        } else {
            _ = try prepare(configuration)
        }
    }
}

/// The TLS identity of a server, and the certificate authorities of its clients.
struct ServerIdentity: Sendable {
    let certificate: TrustCertificate
    /// The authorities whose client certificates permit reading without a token.
    let authorities: [TrustCertificate]
    let context: NIOSSLContext

    /// Reads the files that the settings name. The result is nil if they name no certificate.
    init?(_ settings: AccessSettings) throws(ConfigurationProblems) {
        guard let certificate = settings.certificate, let key = settings.key else { return nil }
        let (chain, own): (TLSClientIdentity, TrustCertificate)
        do throws(ConfigurationProblem) {
            let (certificate, key) = (try Self.path("certificate", certificate), try Self.path("key", key))
            if let text = CredentialFile.exposure(of: key, remedy: "get a new key") {
                throw ConfigurationProblem(path: "access.key", text: text)
            }
            do { chain = try TLSClientIdentity(certificateFile: certificate, keyFile: key) } catch {
                throw Self.problem(error, keyFile: key)
            }
            own = try Self.problem("certificate") {
                try TrustCertificate(derEncoded: try chain.certificateChain[0].toDERBytes())
            }
            if settings.hosts.isEmpty, own.subjectAlternativeNames.isEmpty {
                let text = "\(certificate.printable) has no subjectAltName; get another one, or set access.hosts"
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

    /// The names and addresses of the certificate.
    var names: [HostPattern] { certificate.subjectAlternativeNames.compactMap { try? HostPattern($0) } }

    /// Returns the reason why the certificate is not valid at a time; nil if it is valid.
    func fault(at time: TrustTime) -> String? {
        if time > certificate.notAfter { return "the certificate expired on \(certificate.notAfter); get a new one" }
        if time < certificate.notBefore { return "the certificate is not valid before \(certificate.notBefore)" }
        return nil
    }

    private static func path(_ key: String, _ name: String) throws(ConfigurationProblem) -> String {
        guard let path = CredentialFile.path(of: name) else {
            throw ConfigurationProblem(path: "access.\(key)", text: CredentialFile.missing(name))
        }
        return path
    }

    private static func context(_ own: TLSClientIdentity, _ authorities: [TrustCertificate]) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: own.certificateChain.map { .certificate($0) },
            privateKey: .privateKey(own.privateKey)
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // The timeout is short, because some clients do not answer close_notify.
        configuration.shutdownTimeout = .seconds(1)
        if !authorities.isEmpty {
            // Verification is optional, because a client without a certificate may have a token.
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
            throw ConfigurationProblem(path: "access.\(key)", text: "cannot use the certificates: \(error)".printable)
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
            text = "the key of \(file) is encrypted; decrypt it with `openssl pkey -in FILE -out FILE`"
        }
        if case .noCertificate(let file) = error {
            text = "\(file) has no readable certificate; it must be in PEM format, with the service's certificate first"
        }
        return ConfigurationProblem(path: "access.\(key)", text: text.printable)
    }
}
