public import AsyncHTTPClient
import NIOCore
import NIOSSL
public import ServerTrust

extension HTTPClient.Configuration {
    /// These settings, with a manager that every TLS connection must pass before the first byte of a request is sent on it: over
    /// HTTP/1.1 and HTTP/2, of every host, also after redirects.
    ///
    /// ```swift
    /// let pins = try PinSet(["sha256/…", "sha256/…"])
    /// let manager = ServerTrustManager(evaluators: ["api.example.org": PinSetTrustEvaluator(pins: pins)])
    /// let client = HTTPClient(configuration: HTTPClient.Configuration().enforcing(manager))
    /// ```
    ///
    /// Call it last: what is set afterwards is not looked at. Initializers of connections that are there already run after the verdict.
    /// It changes:
    ///
    /// - `http1_1ConnectionDebugInitializer` and `http2ConnectionDebugInitializer`, where connections are judged. Without them there
    ///   is no enforcement: do not set them later.
    /// - `tlsConfiguration`: TLS 1.2 at least, no key exchange by RSA unless it has suites of its own, and the roots and the verification of
    ///   ``ServerTrustEnforcement/handshakeVerification``. A client certificate in it stays. A request with a
    ///   `tlsConfiguration` of its own is judged as well.
    /// - `connectionPool.retryConnectionEstablishment` is false: a server that is refused would else be asked again until
    ///   `timeout.connect` is over. Set it afterwards if other failures of connections should be retried.
    ///
    /// A refused request fails with `ServerTrustError`. What cannot be seen, and which evaluators are exact here, is in
    /// `docs/server-trust.md`.
    ///
    /// - Parameters:
    ///   - manager: Which evaluator is for which host. The host is the one of the TLS connection: the URL's, or what `dnsOverride`
    ///     says TLS is for; never a `Host` header.
    ///   - enforcement: Anchors, revocation, limits.
    public func enforcing(
        _ manager: ServerTrustManager,
        _ enforcement: ServerTrustEnforcement = ServerTrustEnforcement()
    ) -> HTTPClient.Configuration {
        var configuration = self
        let tls = (tlsConfiguration ?? .makeClientConfiguration()).enforcing(enforcement, manager)
        let gatekeeper = ConnectionGatekeeper(
            judge: ConnectionJudge(
                manager: manager,
                enforcement: enforcement,
                fetcher: proxy == nil && enforcement.fetchesChains
                    ? ChainFetcher(tls, offersHTTP2: httpVersion == .automatic) : nil
            ),
            isProxied: proxy != nil
        )
        configuration.tlsConfiguration = tls
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = { [http1_1ConnectionDebugInitializer] channel in
            Self.run(http1_1ConnectionDebugInitializer, on: channel, after: gatekeeper.admit(channel))
        }
        configuration.http2ConnectionDebugInitializer = { [http2ConnectionDebugInitializer] channel in
            Self.run(http2ConnectionDebugInitializer, on: channel, after: gatekeeper.admitHTTP2(channel))
        }
        return configuration
    }

    private static func run(
        _ initializer: (@Sendable (any Channel) -> EventLoopFuture<Void>)?,
        on channel: any Channel,
        after verdict: EventLoopFuture<Void>
    ) -> EventLoopFuture<Void> {
        guard let initializer else { return verdict }
        return verdict.flatMap { initializer(channel) }
    }
}
