import Dispatch
package import LinuxPrimitives
import NIOCore
import NIOHTTP1
import NIOPosix
import NetworkReachability

/// A server of HTTP/1.1 that listens at addresses of the loopback and at a Unix socket, and ends with all its connections.
///
/// One thread does it all, and sleeps while nobody asks. What is told to a client is made elsewhere: see ``Responder``.
package final class WebServer: Sendable {
    /// Answers a request, at once or later, on any thread, exactly once. It is called on the server's thread, which it must not keep.
    package typealias Responder = @Sendable (WebRequest, @escaping @Sendable (WebAnswer) -> Void) -> Void

    private struct State {
        var listening: [any Channel] = []
        var connections: [ObjectIdentifier: any Channel] = [:]
        var socket: SocketPlace?
        var hasEnded = false
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let limits: WebLimits
    private let respond: Responder
    private let state = Locked(State())
    private let counted = Locked(WebStatistics())
    /// Answers that are being made.
    private let underWay = DispatchGroup()

    package init(limits: WebLimits = WebLimits(), respond: @escaping Responder) {
        (self.limits, self.respond) = (limits, respond)
    }

    /// How it is used.
    package var statistics: WebStatistics { counted.withLock(\.self) }

    // MARK: Listening

    /// Listens at an address.
    ///
    /// - Returns: The address as people write it, with the port the system chose where none was named.
    package func listen(at address: ListenAddress) async throws(ListenError) -> String {
        let what = "cannot listen at \(address.text(port: Int(address.port)))"
        do {
            let channel = try await bootstrap(isLocal: false)
                .bind(to: SocketAddress(ipAddress: address.address.description, port: Int(address.port))).get()
            keep(channel)
            return address.text(port: channel.localAddress?.port ?? Int(address.port))
        } catch let error as IOError {
            let reason = SystemError(rawValue: error.errnoCode)
            guard reason.rawValue == SystemError.addressInUse.rawValue else { throw ListenError(what, reason) }
            throw ListenError(.taken, "\(what): another program listens there")
        } catch {
            throw ListenError(.failed, "\(what): \(error)")
        }
    }

    /// Listens at a Unix socket.
    ///
    /// - Parameter mode: Who may connect.
    package func listen(at path: String, mode: UInt32) async throws(ListenError) {
        let place = try SocketPlace(path)
        let what = "cannot listen at \(path.printable)"
        do {
            keep(try await bootstrap(isLocal: true).bind(unixDomainSocketPath: path).get())
            try OwnFile.setMode(path, mode)
        } catch let error as IOError {
            throw ListenError(what, SystemError(rawValue: error.errnoCode))
        } catch let error as SystemError {
            throw ListenError(what, error)
        } catch {
            throw ListenError(.failed, "\(what): \(error)")
        }
        state.withLock { $0.socket = place }
    }

    /// Listens at a socket that was handed over. Its file, if it has one, belongs to who made it.
    ///
    /// - Returns: Where that is, as people write it.
    package func listen(at socket: ListeningSocket) async throws(ListenError) -> String {
        let place = try InheritedPlace(socket)
        do {
            keep(try await bootstrap(isLocal: place.isLocal).withBoundSocket(socket.number).get())
            return place.text
        } catch let error as IOError {
            throw ListenError("cannot listen at \(place.text)", SystemError(rawValue: error.errnoCode))
        } catch {
            throw ListenError(.failed, "cannot listen at \(place.text): \(error)")
        }
    }

    /// Ends everything: nobody is answered any more, and the socket's file is gone.
    package func stop() async {
        let channels = state.withLock { state in
            state.hasEnded = true
            defer { (state.listening, state.connections) = ([], [:]) }
            return state.listening + Array(state.connections.values)
        }
        let ends = channels.map { channel -> EventLoopFuture<Void> in
            channel.pipeline.fireUserInboundEventTriggered(ServerEnding())
            return channel.close()
        }
        for end in ends { try? await end.get() }
        // Who makes an answer still hands it over, to a thread that must be there.
        await withCheckedContinuation { continuation in
            underWay.notify(queue: .global()) { continuation.resume() }
        }
        state.withLock { $0.socket.take() }?.leave()
        try? await group.shutdownGracefully()
    }

    private func keep(_ channel: any Channel) {
        state.withLock { $0.listening.append(channel) }
    }

    // MARK: Connections

    private func bootstrap(isLocal: Bool) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            // An address that was listened at a moment ago may be taken again.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: isLocal ? 0 : 1)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                let way = isLocal ? PeerCredential.way(of: channel) : channel.eventLoop.makeSucceededFuture(.loopback)
                return way.flatMapThrowing { [weak self] way in
                    guard let self else { return channel.close(promise: nil) }
                    try self.accept(channel, way)
                }
            }
    }

    private func accept(_ channel: any Channel, _ way: WebRequest.Way) throws {
        let key = ObjectIdentifier(channel)
        let isWelcome = state.withLock { state in
            guard !state.hasEnded, state.connections.count < limits.connections else { return false }
            state.connections[key] = channel
            return true
        }
        guard isWelcome else { return refuse(channel) }
        counted.withLock { $0.connections += 1 }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { _ = $0.connections.removeValue(forKey: key) }
            self?.counted.withLock { $0.connections -= 1 }
        }
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderListSize = limits.headerSize
        decoding.maxHeaderFieldSize = limits.headerSize / 2
        decoding.maxHeaderFieldCount = limits.headerCount
        let pipeline = channel.pipeline.syncOperations
        try pipeline.configureHTTPServerPipeline(
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoding
        )
        try pipeline.addHandler(
            RequestHandler(way: way, limits: limits, statistics: counted, underWay: underWay, respond: respond)
        )
    }

    private func refuse(_ channel: any Channel) {
        counted.withLock { $0.refused += 1 }
        let text =
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        channel.pipeline.eventLoop.execute {
            channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
