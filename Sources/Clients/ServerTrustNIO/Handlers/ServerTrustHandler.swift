import LinuxSupport
public import NIOCore
public import NIOSSL
import NIOTLS
public import ServerTrust

/// Stands behind the TLS handler of one connection. It has the manager asked about the server, keeps what came of it, and tells that
/// where the TLS handler only tells of a failed handshake.
///
/// Its event loop is the only one to touch it.
final class ServerTrustHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case handshaking
        case evaluating(TrustEvaluation)
        case evaluated(TrustVerdict)
        /// The handshake is over: well, or with this error.
        case over((any Error)?)
    }

    private let host: String
    private let factory: ServerTrustHandlerFactory
    private let handshake: EventLoopPromise<TrustedHandshake>
    private var state = State.handshaking
    private weak var tls: NIOSSLClientHandler?

    /// The promise is kept whatever happens to a handler that was added to a pipeline.
    init(factory: ServerTrustHandlerFactory, host: String, handshake: EventLoopPromise<TrustedHandshake>) {
        self.factory = factory
        self.host = host
        self.handshake = handshake
    }

    /// The handler to stand in front of this one.
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

    /// Called by the TLS handler, within its own work: so the answer must come later, as that of a task does.
    private func evaluate(
        _ certificates: [NIOSSLCertificate],
        _ answer: EventLoopPromise<NIOSSLVerificationResultWithMetadata>
    ) {
        guard case .handshaking = state else { return answer.succeed(.failed) }
        let loop = handshake.futureResult.eventLoop
        let verdict = loop.makePromise(of: TrustVerdict.self)
        let evaluation = TrustEvaluation(promise: verdict)
        state = .evaluating(evaluation)
        verdict.futureResult.assumeIsolated().whenSuccess { verdict in
            let isTrusted = self.keep(verdict)
            answer.succeed(isTrusted ? .certificateVerified(VerificationMetadata(nil)) : .failed)
        }
        do {
            evaluation.start(
                chain: try certificates.map { try $0.toDERBytes() },
                host: host,
                manager: factory.manager,
                configuration: factory.configuration,
                limit: factory.settings.evaluationTimeLimit,
                on: loop
            )
        } catch {
            let reason = TrustFailure.unreadableCertificate("the server's certificates cannot be read: \(error)")
            evaluation.finish(.failure(ServerTrustError(reason: reason, host: host)))
        }
    }

    /// Whether it is a good one. One that comes when the handshake has failed meanwhile is none.
    private func keep(_ verdict: TrustVerdict) -> Bool {
        guard case .evaluating = state else { return false }
        state = .evaluated(verdict)
        guard case .success = verdict else { return false }
        return true
    }

    /// Ends with an error, unless it has ended. The reason why the server is not trusted stands for whatever followed from it.
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
            evaluation.finish(.failure(ServerTrustError(reason: .cancelled, host: host)))
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
            // A handshake without a good verdict, whatever made the TLS library think it done, is none.
            context.fireErrorCaught(end(ServerTrustError(reason: .noCertificates, host: host)))
            context.close(promise: nil)
        }
    }

    /// Until the handshake is done the TLS handler keeps what is written; if it fails, its writers learn why.
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

/// A finished handshake with a server that is trusted.
public struct TrustedHandshake: Sendable {
    /// Whom the connection is for, as it was asked for.
    public let host: String

    /// What was agreed on with ALPN (RFC 7301); nil if nothing was.
    public let applicationProtocol: String?

    /// The version of TLS; nil if the TLS library does not tell.
    public let version: TLSVersion?

    /// What the server has shown, as it was judged.
    public let trust: ServerTrust
}

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

/// One question to a manager about one server. The first answer counts: the manager's, the time limit's, or that nobody waits any
/// more. Whatever comes later is dropped.
final class TrustEvaluation: Sendable {
    private struct State {
        /// Nil when it has been answered.
        var promise: EventLoopPromise<TrustVerdict>?
        var task: Task<Void, Never>?
        var timeLimit: Scheduled<Void>?
    }

    private let state: Locked<State>

    /// The answer comes through the promise, exactly once, on any thread.
    init(promise: EventLoopPromise<TrustVerdict>) {
        state = Locked(State(promise: promise))
    }

    /// Reads and judges on a thread of its own, for it may take milliseconds, or wait for others.
    func start(
        chain: [[UInt8]],
        host: String,
        manager: ServerTrustManager,
        configuration: TrustConfiguration,
        limit: Duration,
        on loop: any EventLoop
    ) {
        let task = Task(executorPreference: JudgingExecutor()) {
            do throws(ServerTrustError) {
                let trust = try configuration.trust(derEncodedChain: chain, host: host)
                try await manager.evaluateOnline(trust, forHost: host)
                self.finish(.success(trust))
            } catch {
                self.finish(.failure(error))
            }
        }
        let timeLimit = loop.scheduleTask(in: TimeAmount(limit)) {
            self.finish(.failure(ServerTrustError(reason: .timedOut(limit), host: host)))
        }
        let isAnswered = state.withLock { state in
            guard state.promise != nil else { return true }
            (state.task, state.timeLimit) = (task, timeLimit)
            return false
        }
        if isAnswered { timeLimit.cancel() }
    }

    /// Answers, ends the task if it still runs, and the clock.
    func finish(_ verdict: TrustVerdict) {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.task?.cancel()
        ended.timeLimit?.cancel()
        ended.promise?.succeed(verdict)
    }
}

/// What came of one evaluation.
typealias TrustVerdict = Result<ServerTrust, ServerTrustError>

extension ChannelPipeline.SynchronousOperations {
    /// Gives the connection TLS, and lets the factory's manager decide whether the server is trusted. Call it on the channel's event
    /// loop, usually in the channel's initializer.
    ///
    /// Nothing the application writes is sent before the manager has decided. When it does not trust the server, the connection is
    /// closed, and the error that goes through the pipeline, and fails the future, is its `ServerTrustError`. Everything
    /// else that can go wrong with a handshake is told in the errors of SwiftNIO and NIOSSL. When the channel closes while the manager
    /// is still being asked, its task is cancelled.
    ///
    /// - Parameters:
    ///   - factory: Whose handlers are added.
    ///   - host: Whom the connection is meant for: a host name in any script, or an IP address. Names are sent to the server as A-labels
    ///     (RFC 6066, section 3), addresses are not.
    ///   - position: Where: behind whatever changes the bytes of the network, before what speaks the application's protocol.
    /// - Returns: The handshake, when it is done. With TLS 1.3 a server that does not like the client's certificate says so only later.
    /// - Throws: `ServerTrustError` with `TrustFailure.invalidHost(_:)`; what the pipeline throws when the
    ///   channel is closed.
    @discardableResult
    public func addServerTrust(
        _ factory: ServerTrustHandlerFactory,
        host: String,
        position: Position = .last
    ) throws -> EventLoopFuture<TrustedHandshake> {
        let handshake = eventLoop.makePromise(of: TrustedHandshake.self)
        do {
            let handlers = try factory.makeHandlers(forHost: host, handshake: handshake)
            // First the one that listens: the other may begin to speak at once.
            try addHandler(handlers.trust, position: position)
            try addHandler(handlers.tls, position: .before(handlers.trust))
        } catch {
            handshake.fail(error)
            throw error
        }
        return handshake.futureResult
    }
}
