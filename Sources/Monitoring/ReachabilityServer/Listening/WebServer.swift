import Dispatch
import Glibc
package import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
import NetworkReachability

/// A server of HTTP/1.1 that listens at addresses of the loopback, at a Unix socket and at any address with TLS, and ends with all its
/// connections.
///
/// One thread does it all, and sleeps while nobody asks. What is told to a client is made elsewhere: see ``Responder``.
package final class WebServer: Sendable {
    /// Answers a request, at once or later, on any thread, exactly once. It is called on the server's thread, which it must not keep.
    package typealias Responder = @Sendable (WebRequest, @escaping @Sendable (WebAnswer) -> Void) -> Void

    private struct Connection {
        let channel: any Channel
        let transport: Transport
    }

    private struct State {
        var quota: ConnectionQuota
        var listening: [any Channel] = []
        var connections: [ObjectIdentifier: Connection] = [:]
        var socket: SocketPlace?
        var hasEnded = false
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let limits: WebLimits
    private let respond: Responder
    private let tls: @Sendable () -> NIOSSLContext?
    private let state: Locked<State>
    private let counted = Locked(WebStatistics())
    /// Answers that are being made.
    private let underWay = DispatchGroup()

    /// - Parameter tls: What is shown on a connection with TLS that begins now; nil where nobody may begin one.
    package init(
        limits: WebLimits = WebLimits(),
        tls: @escaping @Sendable () -> NIOSSLContext? = { nil },
        respond: @escaping Responder
    ) {
        (self.limits, self.tls, self.respond) = (limits, tls, respond)
        state = Locked(State(quota: ConnectionQuota(limit: limits.connections)))
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
            let channel = try await bootstrap(address.isSecured ? .secured : .loopback)
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
            keep(try await bootstrap(.local).bind(unixDomainSocketPath: path).get())
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
    /// - Parameter isSecured: Whether with TLS.
    /// - Returns: Where that is, as people write it.
    package func listen(at socket: ListeningSocket, isSecured: Bool = false) async throws(ListenError) -> String {
        let place = try InheritedPlace(socket, isSecured: isSecured)
        do {
            keep(try await bootstrap(place.transport).withBoundSocket(socket.number).get())
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
            return state.listening + state.connections.values.map(\.channel)
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

    /// Ends the connections with TLS, after the answers that are being made: whoever is behind them shows again who they are.
    package func endSecured() {
        for connection in state.withLock({ Array($0.connections.values) }) where connection.transport == .secured {
            connection.channel.pipeline.fireUserInboundEventTriggered(ServerEnding())
        }
    }

    private func keep(_ channel: any Channel) {
        state.withLock { $0.listening.append(channel) }
    }

    // MARK: Connections

    /// IP_FREEBIND of `ip(7)`.
    private static let freeBind = ChannelOptions.socket(SocketOptionLevel(IPPROTO_IP), SocketOptionName(15))

    private func bootstrap(_ transport: Transport) -> ServerBootstrap {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            // An address that was listened at a moment ago may be taken again.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: transport == .local ? 0 : 1)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                let way: EventLoopFuture<WebRequest.Way> =
                    switch transport {
                    case .local: PeerCredential.way(of: channel)
                    case .loopback: channel.eventLoop.makeSucceededFuture(.loopback)
                    case .secured: channel.eventLoop.makeSucceededFuture(.secured(certificate: nil))
                    }
                return way.flatMapThrowing { [weak self] way in
                    guard let self else { return channel.close(promise: nil) }
                    try self.accept(channel, transport, way)
                }
            }
        // An address that others reach may come only with a cable.
        return transport == .secured ? bootstrap.serverChannelOption(Self.freeBind, value: 1) : bootstrap
    }

    private func accept(_ channel: any Channel, _ transport: Transport, _ way: WebRequest.Way) throws {
        let key = ObjectIdentifier(channel)
        let client: WebClient =
            if case .local(let user, _) = way { user.map { .user($0) } ?? .unknown } else { WebClient(of: channel) }
        let isWelcome = state.withLock { state in
            guard !state.hasEnded, state.quota.admit(client, over: transport) else { return false }
            state.connections[key] = Connection(channel: channel, transport: transport)
            return true
        }
        guard isWelcome else { return refuse(channel, transport) }
        counted.withLock { $0.connections += 1 }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { state in
                state.quota.release(client)
                state.connections[key] = nil
            }
            self?.counted.withLock { $0.connections -= 1 }
        }
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderListSize = limits.headerSize
        decoding.maxHeaderFieldSize = limits.headerSize / 2
        decoding.maxHeaderFieldCount = limits.headerCount
        let pipeline = channel.pipeline.syncOperations
        if transport == .secured {
            guard let context = tls() else { return channel.close(promise: nil) }
            try pipeline.addHandler(NIOSSLServerHandler(context: context))
        }
        let firstBytes = FirstBytesHandler()
        try pipeline.addHandler(firstBytes)
        try pipeline.configureHTTPServerPipeline(
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: decoding
        )
        try pipeline.addHandler(
            RequestHandler(
                way: way,
                client: client,
                limits: limits,
                statistics: counted,
                underWay: underWay,
                firstBytes: firstBytes,
                respond: respond
            )
        )
    }

    private func refuse(_ channel: any Channel, _ transport: Transport) {
        counted.withLock { $0.refused += 1 }
        // Nobody there would understand what is said before a handshake.
        if transport == .secured { return channel.close(promise: nil) }
        let text =
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        channel.pipeline.eventLoop.execute {
            channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
