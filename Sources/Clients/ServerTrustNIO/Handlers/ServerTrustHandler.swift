import LinuxSupport
public import NIOCore
public import NIOSSL
import NIOTLS
public import ServerTrust

/// The handler behind the TLS handler of one connection. It evaluates the server with the manager, and replaces the TLS
/// handler's handshake error with the error of the manager. Use it only on its event loop.
final class ServerTrustHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case handshaking
        case evaluating(FirstResult<ServerTrust>)
        case evaluated(Result<ServerTrust, any Error>)
        /// The handshake has ended. The value is the error, or nil if it succeeded.
        case over((any Error)?)
    }

    private let host: String
    private let factory: ServerTrustHandlerFactory
    private let handshake: EventLoopPromise<TrustedHandshake>
    private var state = State.handshaking
    private weak var tls: NIOSSLClientHandler?

    /// Creates a handler. After the handler was added to a pipeline, the promise is always completed.
    init(factory: ServerTrustHandlerFactory, host: String, handshake: EventLoopPromise<TrustedHandshake>) {
        self.factory = factory
        self.host = host
        self.handshake = handshake
    }

    /// Creates the TLS handler that belongs to this handler.
    func makeTLSHandler(_ context: NIOSSLContext, serverName: String?) throws -> NIOSSLClientHandler {
        let handler = try NIOSSLClientHandler(
            context: context,
            serverHostname: serverName,
            customVerificationCallbackWithMetadata: { [weak self] certificates, promise in
                guard let self else { return promise.succeed(.failed) }
                self.evaluate(certificates, promise)
            }
        )
        tls = handler
        return handler
    }

    /// Evaluates the server. The TLS handler calls this method while it processes the handshake, so the result must be
    /// delivered later.
    private func evaluate(
        _ certificates: [NIOSSLCertificate],
        _ answer: EventLoopPromise<NIOSSLVerificationResultWithMetadata>
    ) {
        guard case .handshaking = state else { return answer.succeed(.failed) }
        let (host, factory) = (host, factory)
        let evaluation = FirstResult<ServerTrust>.evaluation(
            of: host,
            within: factory.settings.evaluationTimeLimit,
            on: handshake.futureResult.eventLoop
        ) {
            let chain: [[UInt8]]
            do {
                chain = try certificates.map { try $0.toDERBytes() }
            } catch {
                let reason = TrustFailure.unreadableCertificate("cannot read the server's certificates: \(error)")
                throw ServerTrustError(reason: reason, host: host)
            }
            let trust = try factory.configuration.trust(derEncodedChain: chain, host: host)
            try await factory.manager.evaluateOnline(trust, forHost: host)
            return trust
        }
        state = .evaluating(evaluation)
        evaluation.future.assumeIsolated().whenComplete { verdict in
            answer.succeed(self.keep(verdict) ? .certificateVerified(VerificationMetadata(nil)) : .failed)
        }
    }

    /// Stores the result of the evaluation.
    ///
    /// - Returns: True if the server is trusted and the handshake has not failed in the meantime.
    private func keep(_ verdict: Result<ServerTrust, any Error>) -> Bool {
        guard case .evaluating = state else { return false }
        state = .evaluated(verdict)
        guard case .success = verdict else { return false }
        return true
    }

    /// Ends the handshake with an error, unless it has ended. If the manager refused the server, its error replaces the
    /// given one, which is only a consequence.
    @discardableResult
    private func end(_ error: any Error) -> any Error {
        let state = state
        var error = error
        switch state {
        case .over(let first): return first ?? error
        case .evaluated(.failure(let reason)): error = reason
        case .handshaking, .evaluating, .evaluated(.success): break
        }
        self.state = .over(error)
        handshake.fail(error)
        if case .evaluating(let evaluation) = state {
            evaluation.complete(.failure(ServerTrustError(reason: .cancelled, host: host)))
        }
        return error
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        switch state {
        case .evaluated(.success(let trust)):
            state = .over(nil)
            handshake.succeed(
                TrustedHandshake(host: host, applicationProtocol: negotiated, version: tls?.tlsVersion, trust: trust)
            )
            context.fireUserInboundEventTriggered(event)
        case .over(nil):
            context.fireUserInboundEventTriggered(event)
        case .handshaking, .evaluating, .evaluated(.failure), .over:
            // Without a positive evaluation the handshake fails, even if the TLS library completed it.
            context.fireErrorCaught(end(ServerTrustError(reason: .noCertificates, host: host)))
            context.close(promise: nil)
        }
    }

    /// Passes data on. The TLS handler buffers it until the handshake is complete. If the handshake fails, the writes
    /// fail with its error.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let promise, !isOver else { return context.write(data, promise: promise) }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { result in
            promise.completeWith(result.mapError { self.failure ?? $0 })
        }
        context.write(data, promise: written)
    }

    private var isOver: Bool {
        guard case .over = state else { return false }
        return true
    }

    private var failure: (any Error)? {
        guard case .over(let error) = state else { return nil }
        return error
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(end(error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(ChannelError.eof)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(ChannelError.ioOnClosedChannel)
    }
}

/// A completed handshake with a trusted server.
public struct TrustedHandshake: Sendable {
    /// The requested host.
    public let host: String

    /// The protocol negotiated with ALPN (RFC 7301); nil if none was negotiated.
    public let applicationProtocol: String?

    /// The version of TLS; nil if the TLS library does not report it.
    public let version: TLSVersion?

    /// The server's certificates and the settings of their evaluation.
    public let trust: ServerTrust
}

/// A factory of handlers that add TLS to connections of SwiftNIO clients. A manager decides which servers are trusted.
///
/// A factory contains a context of the TLS library, so create one for many connections. Thread-safe.
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
    /// The manager that decides which servers are trusted.
    public private(set) var manager: ServerTrustManager

    /// The TLS settings.
    public let settings: TLSClientSettings

    /// The configuration of each evaluation.
    public private(set) var configuration: TrustConfiguration

    private let context: NIOSSLContext

    /// Creates a factory.
    ///
    /// - Parameters:
    ///   - manager: The manager that evaluates servers, with `ServerTrustManager.evaluateOnline(_:forHost:)`.
    ///   - settings: The TLS settings.
    ///   - configuration: The anchors, revocation, cache, time and log of each evaluation.
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

    /// Returns a factory with another manager and configuration, which shares the context of the TLS library.
    package func with(
        _ manager: ServerTrustManager,
        _ configuration: TrustConfiguration
    ) -> ServerTrustHandlerFactory {
        var factory = self
        (factory.manager, factory.configuration) = (manager, configuration)
        return factory
    }

    /// Returns the two handlers of a connection. The TLS handler is next to the network.
    ///
    /// - Throws: `ServerTrustError` with `TrustFailure.invalidHost(_:)`.
    func makeHandlers(
        forHost host: String,
        handshake: EventLoopPromise<TrustedHandshake>
    ) throws -> (tls: NIOSSLClientHandler, trust: ServerTrustHandler) {
        let handler = ServerTrustHandler(factory: self, host: host, handshake: handshake)
        return (try handler.makeTLSHandler(context, serverName: try Self.serverName(host)), handler)
    }

    /// Returns the name for Server Name Indication; nil for addresses (RFC 6066, 3).
    private static func serverName(_ host: String) throws(ServerTrustError) -> String? {
        do {
            let host = try ServerHost(host)
            return host.isAddress ? nil : host.description
        } catch {
            throw ServerTrustError(reason: error, host: host)
        }
    }
}

/// A promise that may be completed several times. Only the first completion counts. Thread-safe.
package struct FirstResult<Value: Sendable>: Sendable {
    private let promise: Locked<EventLoopPromise<Value>?>
    package let future: EventLoopFuture<Value>

    package init(on loop: any EventLoop) {
        let promise = loop.makePromise(of: Value.self)
        future = promise.futureResult
        self.promise = Locked(promise)
    }

    package func complete(_ result: Result<Value, any Error>) {
        promise.withLock { $0.take() }?.completeWith(result)
    }

    /// Starts the evaluation of a server on a separate thread, because it may take milliseconds or wait for other
    /// servers. The result is that of the evaluation, or `TrustFailure.timedOut(_:)` after the time limit. After the
    /// result the evaluation is cancelled.
    package static func evaluation(
        of host: String,
        within limit: Duration,
        on loop: any EventLoop,
        _ evaluate: @escaping @Sendable () async throws -> Value
    ) -> FirstResult {
        let result = FirstResult(on: loop)
        let task = Task(executorPreference: EvaluationExecutor()) {
            do {
                result.complete(.success(try await evaluate()))
            } catch {
                result.complete(.failure(error))
            }
        }
        let timer = loop.scheduleTask(in: TimeAmount(limit: limit)) {
            result.complete(.failure(ServerTrustError(reason: .timedOut(limit), host: host)))
        }
        result.future.whenComplete { _ in
            timer.cancel()
            task.cancel()
        }
        return result
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// Adds TLS to the connection. The factory's manager decides whether the server is trusted. Call it on the
    /// channel's event loop, usually in the channel's initializer.
    ///
    /// No application data is sent before the manager has decided. If the server is not trusted, the connection is
    /// closed, and the pipeline and the future fail with the manager's `ServerTrustError`. Other failures of the
    /// handshake are errors of SwiftNIO and NIOSSL. If the channel closes during the evaluation, the evaluation is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - factory: The source of the handlers.
    ///   - host: The host of the connection: a name in any script, or an IP address. Names are sent to the server as
    ///     A-labels (Server Name Indication, RFC 6066, 3). Addresses are not sent.
    ///   - position: The position, between the handlers of the network and those of the application.
    /// - Returns: The completed handshake. With TLS 1.3 a server verifies the client's certificate later, so a refusal
    ///   is a later error of the pipeline.
    /// - Throws: `ServerTrustError` with `TrustFailure.invalidHost(_:)`, or an error of the pipeline if the channel is
    ///   closed.
    @discardableResult
    public func addServerTrust(
        _ factory: ServerTrustHandlerFactory,
        host: String,
        position: Position = .last
    ) throws -> EventLoopFuture<TrustedHandshake> {
        let handshake = eventLoop.makePromise(of: TrustedHandshake.self)
        do {
            let handlers = try factory.makeHandlers(forHost: host, handshake: handshake)
            // The handler that receives events is added first, because the TLS handler may send some immediately.
            try addHandler(handlers.trust, position: position)
            try addHandler(handlers.tls, position: .before(handlers.trust))
        } catch {
            handshake.fail(error)
            throw error
        }
        return handshake.futureResult
    }
}
