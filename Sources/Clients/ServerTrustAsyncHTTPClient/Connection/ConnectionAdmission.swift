import AsyncHTTPClient
import LinuxSupport
import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
import ServerTrust
import ServerTrustNIO

/// A gate that holds each connection of async-http-client after the handshake until its server was evaluated, and then
/// admits or closes it.
///
/// If a connection is refused, the channel must close before its initializer fails. The connection pool stops the
/// program if a channel closes while the pool waits to retry the connection.
struct ConnectionAdmission: Sendable {
    let evaluator: ConnectionEvaluator
    let isProxied: Bool

    /// Evaluates an HTTP/1.1 connection. Call it on the channel's event loop, after the handshake.
    func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
        admit(channel, gate: nil)
    }

    /// Evaluates an HTTP/2 connection. Frames are held back until the pool has registered the connection, because an
    /// earlier frame could stop the program. Call it on the channel's event loop, after the handshake.
    func admitHTTP2(_ channel: any Channel) -> EventLoopFuture<Void> {
        do {
            let pipeline = channel.pipeline.syncOperations
            let gate = FrameGate()
            try pipeline.addHandler(gate, position: .after(try pipeline.handler(type: NIOHTTP2Handler.self)))
            return admit(channel, gate: gate)
        } catch {
            return refuse(channel, error)
        }
    }

    private func admit(_ channel: any Channel, gate: FrameGate?) -> EventLoopFuture<Void> {
        guard let handler = try? channel.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self) else {
            guard !evaluator.enforcement.allowsPlainHTTP else { return channel.eventLoop.makeSucceededVoidFuture() }
            let host = channel.remoteAddress?.ipAddress ?? "an unknown host"
            return refuse(
                channel,
                ServerTrustError(
                    reason: .custom("the connection has no TLS; set allowsPlainHTTP to permit it"),
                    host: host
                )
            )
        }
        do {
            let peer = try ConnectionPeer(handler, on: channel, isProxied: isProxied)
            return wait(for: verdict(on: peer, channel), channel, gate)
        } catch {
            return refuse(channel, error)
        }
    }

    /// Returns a future that ends with the evaluation, the time limit, or the end of the connection, whichever is
    /// first.
    private func verdict(on peer: ConnectionPeer, _ channel: any Channel) -> EventLoopFuture<Void> {
        let verdict = FirstResult<Void>.evaluation(
            of: peer.host,
            within: evaluator.enforcement.evaluationTimeLimit,
            on: channel.eventLoop
        ) { try await evaluator.evaluate(peer, on: channel.eventLoop) }
        channel.closeFuture.whenComplete { _ in verdict.complete(.failure(HTTPClientError.remoteConnectionClosed)) }
        return verdict.future
    }

    private func wait(
        for verdict: EventLoopFuture<Void>,
        _ channel: any Channel,
        _ gate: FrameGate?
    ) -> EventLoopFuture<Void> {
        let admission = channel.eventLoop.makePromise(of: Void.self)
        verdict.assumeIsolated().whenComplete { result in
            switch result {
            case .success where channel.isActive:
                // When this call returns, the pool has registered the connection.
                admission.succeed()
                gate?.open()
            case .success:
                refuse(channel, HTTPClientError.remoteConnectionClosed).cascade(to: admission)
            case .failure(let error):
                refuse(channel, error).cascade(to: admission)
            }
        }
        return admission.futureResult
    }

    /// Closes the connection below TLS, so that it does not wait for the peer. The returned future fails after the
    /// connection has closed.
    private func refuse(_ channel: any Channel, _ error: any Error) -> EventLoopFuture<Void> {
        if error is ServerTrustError { evaluator.enforcement.configuration.logger.warning("\(error)") }
        let refusal = channel.eventLoop.makePromise(of: Void.self)
        channel.closeFuture.whenComplete { _ in refusal.fail(error) }
        let pipeline = channel.pipeline.syncOperations
        if let context = try? pipeline.context(handlerType: NIOSSLClientHandler.self) {
            context.close(mode: .all, promise: nil)
        } else {
            channel.close(mode: .all, promise: nil)
        }
        return refusal.futureResult
    }
}

/// A handler that holds back inbound data until the connection was evaluated.
final class FrameGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private var context: ChannelHandlerContext?
    private var frames: [NIOAny] = []
    private var isReadWanted = false

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { frames.append(data) }

    /// Defers reading from the socket, so that the peer cannot fill the memory.
    func read(context: ChannelHandlerContext) { isReadWanted = true }

    func open() {
        guard let context else { return }
        for frame in frames { context.fireChannelRead(frame) }
        // Streams flush only at the end of a series of frames.
        if !frames.isEmpty { context.fireChannelReadComplete() }
        frames = []
        if isReadWanted { context.read() }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}

/// The peer of a connection: the requested host, the certificate and the addresses.
struct ConnectionPeer: Sendable {
    /// The host that the manager evaluates.
    let host: String
    /// The name in the handshake (Server Name Indication); nil for addresses.
    let serverName: String?
    /// The peer's certificate in DER. The handshake proved that the peer has its key.
    let certificate: [UInt8]
    let remoteAddress: SocketAddress?
    let localAddress: SocketAddress?

    /// Reads the peer from the TLS handler and the channel.
    ///
    /// - Throws: ``ServerTrustError`` if the host or the certificate is not available.
    init(_ handler: NIOSSLClientHandler, on channel: any Channel, isProxied: Bool) throws(ServerTrustError) {
        remoteAddress = channel.remoteAddress
        localAddress = channel.localAddress
        let address = channel.remoteAddress?.ipAddress
        guard let name = handler.serverName else {
            throw Self.error("NIOSSL does not provide the host of the handshake", host: address)
        }
        serverName = name
        if let name {
            host = name
        } else if isProxied {
            throw Self.error("the address of a server behind a proxy is not known", host: nil)
        } else if let address {
            host = address
        } else {
            throw Self.error("the connection is not over IP, so its host is not known", host: nil)
        }
        guard let leaf = handler.peerCertificate, let bytes = try? leaf.toDERBytes() else {
            throw ServerTrustError(reason: .noCertificates, host: host)
        }
        certificate = bytes
    }

    private static func error(_ text: String, host: String?) -> ServerTrustError {
        ServerTrustError(reason: .custom(text), host: host ?? "an unknown host")
    }
}

extension NIOSSLClientHandler {
    /// The name that the handshake requested and verified. The inner value is nil for a handshake without a name. The
    /// outer value is nil if the name cannot be read.
    ///
    /// The property of NIOSSL is private, and async-http-client does not pass the host to the initializer, so it is
    /// read by reflection. A `Host` header cannot replace it: it may name another host, and it is sent later.
    var serverName: String?? {
        guard let connection = Self.child("connection", of: Mirror(reflecting: self)),
            let value = Self.child("expectedHostname", of: Mirror(reflecting: connection)),
            let name = value as? String?
        else { return nil }
        return .some(name)
    }

    private static func child(_ label: String, of mirror: Mirror?) -> Any? {
        guard let mirror else { return nil }
        for child in mirror.children where child.label == label { return child.value }
        return child(label, of: mirror.superclassMirror)
    }
}
