import AsyncHTTPClient
import LinuxSupport
import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
import ServerTrust

/// Lets connections of async-http-client to their first request, or closes them.
///
/// How a refusal ends matters: the pool must hear of the end of a connection before it hears that the connection was not made, for it
/// stops the program when it hears of an end while it waits to try again.
struct ConnectionGatekeeper: Sendable {
    let judge: ConnectionJudge
    let isProxied: Bool

    /// Called on the channel's event loop, after the handshake.
    func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
        admit(channel, gate: nil)
    }

    /// The same. A frame that comes before the pool knows the connection could stop the program, so they wait.
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
            guard !judge.enforcement.allowsPlainHTTP else { return channel.eventLoop.makeSucceededVoidFuture() }
            let host = channel.remoteAddress?.ipAddress ?? "an unknown host"
            return refuse(
                channel,
                ServerTrustError(
                    reason: .custom("the connection is without TLS, which allowsPlainHTTP would let through"),
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

    /// What comes first: the verdict, the end of the time for it, or of the connection.
    private func verdict(on peer: ConnectionPeer, _ channel: any Channel) -> EventLoopFuture<Void> {
        let verdict = FirstResult<Void>(on: channel.eventLoop)
        let task = Task(executorPreference: JudgingExecutor()) {
            do {
                verdict.complete(.success(try await judge.judge(peer, on: channel.eventLoop)))
            } catch {
                verdict.complete(.failure(error))
            }
        }
        let limit = judge.enforcement.evaluationTimeLimit
        let timer = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
            let reason = TrustFailure.custom("it took longer than \(limit) to judge it")
            verdict.complete(.failure(ServerTrustError(reason: reason, host: peer.host)))
        }
        channel.closeFuture.whenComplete { _ in verdict.complete(.failure(HTTPClientError.remoteConnectionClosed)) }
        verdict.future.whenComplete { _ in
            timer.cancel()
            task.cancel()
        }
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
                // The pool knows the connection when this returns.
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

    /// Closes the connection below TLS, for the peer must not be waited for, and fails when it has ended.
    private func refuse(_ channel: any Channel, _ error: any Error) -> EventLoopFuture<Void> {
        if error is ServerTrustError { judge.enforcement.configuration.logger.warning("\(error)") }
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

/// A promise that several may keep; the first does.
struct FirstResult<Value: Sendable>: Sendable {
    private let promise: Locked<EventLoopPromise<Value>?>
    let future: EventLoopFuture<Value>

    init(on eventLoop: any EventLoop) {
        let promise = eventLoop.makePromise(of: Value.self)
        future = promise.futureResult
        self.promise = Locked(promise)
    }

    func complete(_ result: Result<Value, any Error>) {
        promise.withLock { $0.take() }?.completeWith(result)
    }
}

/// Keeps back what comes in until the connection has been judged.
final class FrameGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private var context: ChannelHandlerContext?
    private var frames: [NIOAny] = []
    private var isReadWanted = false

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { frames.append(data) }

    /// Nothing more is read from the socket, so that no peer can fill the memory.
    func read(context: ChannelHandlerContext) { isReadWanted = true }

    func open() {
        guard let context else { return }
        for frame in frames { context.fireChannelRead(frame) }
        // Streams flush nothing between a frame and the end of the frames.
        if !frames.isEmpty { context.fireChannelReadComplete() }
        frames = []
        if isReadWanted { context.read() }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}

/// Whom a connection is for, and what is known of who is there.
struct ConnectionPeer: Sendable {
    /// What the manager is asked about.
    let host: String
    /// What was asked for in the handshake; nil for addresses.
    let serverName: String?
    /// In DER. The handshake has proven that the peer has its key.
    let certificate: [UInt8]
    let remoteAddress: SocketAddress?
    let localAddress: SocketAddress?

    /// - Throws: ``ServerTrustError`` when that cannot be told.
    init(_ handler: NIOSSLClientHandler, on channel: any Channel, isProxied: Bool) throws(ServerTrustError) {
        remoteAddress = channel.remoteAddress
        localAddress = channel.localAddress
        let address = channel.remoteAddress?.ipAddress
        guard let name = handler.serverName else {
            throw Self.error("NIOSSL no longer says what a handshake is for", host: address)
        }
        serverName = name
        if let name {
            host = name
        } else if isProxied {
            throw Self.error("behind a proxy the address that a connection is for is not known", host: nil)
        } else if let address {
            host = address
        } else {
            throw Self.error("a connection that is not over IP has no host to judge", host: nil)
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
    /// The name the handshake asked for and verified, nil within if there was none, nil if it cannot be found.
    ///
    /// NIOSSL keeps it to itself, and async-http-client tells nobody whom a connection is for, so it is read by reflection. A
    /// `Host` header would not do: it may be another host than the one the connection is to, and it comes too late.
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
