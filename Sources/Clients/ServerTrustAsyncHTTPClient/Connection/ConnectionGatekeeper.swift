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
