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

    /// All at their defaults.
    public init() {}
}
