import LinuxSupport
package import NIOCore
import NIOHTTP1

/// One request over one connection of its own.
struct HTTPAttempt: Sendable {
    let request: TrustedHTTPRequest
    let head: HTTPRequestHead
    let settings: TrustedHTTPSettings
    let tls: ServerTrustHandlerFactory
    let connector: any HTTPConnecting
    let loop: any EventLoop
    let deadline: NIODeadline

    func outcome() async -> HTTPFlight.Outcome {
        let target = FlightTarget(request.url, settings)
        let flight = HTTPFlight(target)
        return await flight.outcome(before: deadline, on: loop) {
            connector.connect(to: target, on: loop) { channel in
                try flight.adopt(channel)
                if !settings.allowsLocalAddresses, settings.proxy == nil {
                    try channel.pipeline.syncOperations.addHandler(LocalAddressGuard())
                }
                try channel.pipeline.syncOperations.addHandler(AbortHandler())
            }
            .flatMap { openTunnel($0, flight) }
            .flatMap { secure($0, flight) }
            .flatMapThrowing { try send($0, $1, flight) }
            .whenFailure { flight.fail($0) }
        }
    }

    private func openTunnel(_ channel: any Channel, _ flight: HTTPFlight) -> EventLoopFuture<any Channel> {
        guard let proxy = settings.proxy, request.url.scheme == .https else {
            return loop.makeSucceededFuture(channel)
        }
        flight.reach(.tunnel)
        return loop.makeCompletedFuture {
            let opened = loop.makePromise(of: Void.self)
            let pipeline = channel.pipeline.syncOperations
            let authority = request.url.authorityWithPort
            let handler = TunnelHandler(authority: authority, authorization: proxy.authorization, opened: opened)
            try addHTTPHandlers(to: pipeline, informational: .drop)
            try pipeline.addHandler(handler, name: Self.tunnelName)
            return opened.futureResult
        }
        .flatMap { $0 }
        .flatMap {
            let names = [Self.tunnelName, Self.decoderName, Self.encoderName]
            return .andAllSucceed(names.map { channel.pipeline.removeHandler(name: $0) }, on: loop)
        }
        .map { channel }
    }

    private func secure(
        _ channel: any Channel,
        _ flight: HTTPFlight
    ) -> EventLoopFuture<(any Channel, TrustedHandshake?)> {
        guard request.url.scheme == .https else { return loop.makeSucceededFuture((channel, nil)) }
        flight.reach(.handshake)
        return loop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addServerTrust(tls, host: "\(request.url.host)")
        }
        .flatMap { $0 }
        .map { (channel, $0) }
    }

    private func send(_ channel: any Channel, _ handshake: TrustedHandshake?, _ flight: HTTPFlight) throws {
        let collector = ResponseCollector(
            url: request.url,
            method: request.method,
            maximumBodyBytes: settings.maximumBodyBytes,
            endsWithHead: settings.endsWithHead,
            handshake: handshake
        )
        let pipeline = channel.pipeline.syncOperations
        try addHTTPHandlers(to: pipeline, informational: .forward)
        try pipeline.addHandler(ResponseHandler(head: head, body: request.body, collector: collector, flight: flight))
    }

    /// The decoder behind the encoder: it must see which method was asked with.
    private func addHTTPHandlers(
        to pipeline: ChannelPipeline.SynchronousOperations,
        informational: NIOInformationalResponseStrategy
    ) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = settings.maximumHeaderBytes
        limits.maxHeaderListSize = settings.maximumHeaderBytes
        let decoder = HTTPResponseDecoder(
            leftOverBytesStrategy: .fireError,
            informationalResponseStrategy: informational,
            limitConfiguration: limits
        )
        try pipeline.addHandler(HTTPRequestEncoder(), name: Self.encoderName)
        try pipeline.addHandler(ByteToMessageHandler(decoder), name: Self.decoderName)
    }

    private static let encoderName = "requests"
    private static let decoderName = "answers"
    private static let tunnelName = "tunnel"
}

/// One request on its way, which any thread may end: the answer, what goes wrong, the clock, or whoever cancels. The first counts.
final class HTTPFlight: Sendable {
    typealias Outcome = Result<TrustedHTTPResponse, TrustedHTTPFailure>

    private struct State {
        var stage = TrustedHTTPStage.connecting
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome, Never>?
        var clock: Scheduled<Void>?
        /// While connecting there may be several.
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state = Locked(State())
    private let target: FlightTarget

    init(_ target: FlightTarget) {
        self.target = target
    }

    var isOver: Bool { state.withLock { $0.outcome != nil } }

    var stage: TrustedHTTPStage { state.withLock { $0.stage } }

    func reach(_ stage: TrustedHTTPStage) {
        state.withLock { $0.stage = stage }
    }

    /// Waits for the end; called once, and before anything that may end it.
    func outcome(before deadline: NIODeadline, on loop: any EventLoop, start: () -> Void) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: Outcome? = state.withLock { state in
                    if state.outcome == nil { state.waiter = continuation }
                    return state.outcome
                }
                if let outcome { return continuation.resume(returning: outcome) }
                let clock = loop.scheduleTask(deadline: deadline) { self.timeIsUp() }
                let isOver = state.withLock { state in
                    state.clock = clock
                    return state.outcome != nil
                }
                if isOver { clock.cancel() } else { start() }
            }
        } onCancel: {
            finish(.failure(.cancelled))
        }
    }

    /// Takes a connection that is to be closed with it.
    ///
    /// - Throws: CancellationError when it is over.
    func adopt(_ channel: any Channel) throws {
        let identifier = ObjectIdentifier(channel)
        let isOver = state.withLock { state in
            if state.outcome == nil { state.channels[identifier] = channel }
            return state.outcome != nil
        }
        if isOver { throw CancellationError() }
        channel.closeFuture.whenComplete { _ in
            _ = self.state.withLock { $0.channels.removeValue(forKey: identifier) }
        }
    }

    /// Ends it. After a failure all connections are closed at once; after an answer that is its handler's work.
    func finish(_ outcome: Outcome) {
        typealias End = (CheckedContinuation<Outcome, Never>?, Scheduled<Void>?, [any Channel])
        let end: End? = state.withLock { state in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { (state.waiter, state.clock, state.channels) = (nil, nil, [:]) }
            return (state.waiter, state.clock, Array(state.channels.values))
        }
        guard let (waiter, clock, channels) = end else { return }
        clock?.cancel()
        if case .failure = outcome {
            for channel in channels { channel.triggerUserOutboundEvent(AbortHandler.Event(), promise: nil) }
        }
        waiter?.resume(returning: outcome)
    }

    /// Ends it with what the layers below say.
    func fail(_ error: any Error) {
        finish(.failure(TrustedHTTPFailure(error, stage, target)))
    }

    private func timeIsUp() {
        finish(.failure(.timedOut(stage, limit: target.settings.timeLimit)))
    }
}

/// Stands next to the network and closes the connection at once when told: a close from above would wait for the farewell of TLS.
package final class AbortHandler: ChannelDuplexHandler {
    package typealias InboundIn = NIOAny
    package typealias OutboundIn = NIOAny

    /// What it is told with.
    package struct Event: Sendable {
        package init() {}
    }

    package init() {}

    package func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?)
    {
        guard event is Event else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.close(promise: promise)
    }
}
