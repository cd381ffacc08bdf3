import NIOCore
import NIOSSL
import NIOTLS
import ServerTrust

/// Stands behind the TLS handler of one connection. It has the manager asked about the server, keeps what came of it, and tells that
/// where the TLS handler only tells of a failed handshake.
///
/// Its event loop is the only one to touch it.
final class ServerTrustHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case handshaking
        case evaluating(TrustEvaluation)
        case evaluated(TrustVerdict)
        /// The handshake is over, well or not.
        case over
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
            self.keep(verdict)
            guard case .success = verdict else { return answer.succeed(.failed) }
            answer.succeed(.certificateVerified(VerificationMetadata(nil)))
        }
        do {
            evaluation.start(
                chain: try certificates.map { try $0.toDERBytes() },
                host: host,
                manager: factory.manager,
                template: factory.template,
                limit: factory.settings.evaluationTimeLimit,
                on: loop
            )
        } catch {
            let reason = TrustFailure.unreadableCertificate("the server's certificates cannot be read: \(error)")
            evaluation.finish(.failure(ServerTrustError(reason: reason, host: host)))
        }
    }

    private func keep(_ verdict: TrustVerdict) {
        if case .evaluating = state { state = .evaluated(verdict) }
    }

    /// Ends with an error, unless it has ended. The reason why the server is not trusted stands for whatever followed from it.
    private func end(_ error: any Error) -> any Error {
        let state = state
        self.state = .over
        switch state {
        case .over:
            return error
        case .evaluated(.failure(let reason)):
            handshake.fail(reason)
            return reason
        case .evaluating(let evaluation):
            handshake.fail(error)
            evaluation.finish(.failure(ServerTrustError(reason: .cancelled, host: host)))
            return error
        case .handshaking, .evaluated(.success):
            handshake.fail(error)
            return error
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            guard case .evaluated(.success(let trust)) = state else {
                // A handshake without a verdict, whatever made the TLS library think so, is none.
                context.fireErrorCaught(end(ServerTrustError(reason: .noCertificates, host: host)))
                return context.close(promise: nil)
            }
            state = .over
            handshake.succeed(
                TrustedHandshake(
                    host: host,
                    applicationProtocol: negotiated,
                    version: tls?.tlsVersion,
                    trust: trust
                )
            )
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(end(error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        _ = end(ChannelError.eof)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        _ = end(ChannelError.ioOnClosedChannel)
    }
}
