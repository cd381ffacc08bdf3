package import NIOSSL

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
