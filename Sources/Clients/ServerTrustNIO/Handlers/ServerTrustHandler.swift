import NIOCore
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
