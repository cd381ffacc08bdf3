import NIOCore
import NIOSSL
public import ServerTrust

/// Gives TLS to connections of clients built on SwiftNIO, so that a manager decides which servers are trusted.
///
/// Making one reads nothing but costs a context of the TLS library; make one for many connections. Any thread and any number of
/// connections may use it at once.
///
/// ```swift
/// let factory = try ServerTrustHandlerFactory(manager: manager)
/// let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).channelInitializer { channel in
///     channel.eventLoop.makeCompletedFuture {
///         _ = try channel.pipeline.syncOperations.addServerTrust(factory, host: "example.org")
///     }
/// }
/// ```
public struct ServerTrustHandlerFactory: Sendable {
    /// Who decides.
    public private(set) var manager: ServerTrustManager

    /// What is demanded of servers and shown to them.
    public let settings: TLSClientSettings

    /// What each evaluation begins with.
    public private(set) var configuration: TrustConfiguration

    private let context: NIOSSLContext

    /// - Parameters:
    ///   - manager: Who decides; it is asked with `ServerTrustManager.evaluateOnline(_:forHost:)`.
    ///   - settings: What is demanded of servers and shown to them.
    ///   - configuration: Anchors, revocation, cache, time and log of each evaluation.
    /// - Throws: ``TLSSettingsError``.
    public init(
        manager: ServerTrustManager,
        settings: TLSClientSettings = TLSClientSettings(),
        configuration: TrustConfiguration = TrustConfiguration()
    ) throws(TLSSettingsError) {
        self.manager = manager
        self.settings = settings
        self.configuration = configuration
        let tls = try settings.tlsConfiguration()
        do {
            context = try NIOSSLContext(configuration: tls)
        } catch {
            throw .refused("\(error)")
        }
    }

    /// The same with others to decide. The context of the TLS library is shared.
    package func with(
        _ manager: ServerTrustManager,
        _ configuration: TrustConfiguration
    ) -> ServerTrustHandlerFactory {
        var factory = self
        (factory.manager, factory.configuration) = (manager, configuration)
        return factory
    }

    /// The two handlers of a connection, the one next to the network first.
    ///
    /// - Throws: `ServerTrustError` with `TrustFailure.invalidHost(_:)`.
    func makeHandlers(
        forHost host: String,
        handshake: EventLoopPromise<TrustedHandshake>
    ) throws -> (tls: NIOSSLClientHandler, trust: ServerTrustHandler) {
        let handler = ServerTrustHandler(factory: self, host: host, handshake: handshake)
        return (try handler.makeTLSHandler(context, serverName: try Self.serverName(host)), handler)
    }

    /// The name for Server Name Indication; nil for addresses, which have none there (RFC 6066, section 3).
    private static func serverName(_ host: String) throws(ServerTrustError) -> String? {
        do {
            let host = try ServerHost(host)
            return host.isAddress ? nil : host.description
        } catch {
            throw ServerTrustError(reason: error, host: host)
        }
    }
}
