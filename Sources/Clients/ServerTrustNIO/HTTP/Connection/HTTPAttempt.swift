import NIOCore
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
