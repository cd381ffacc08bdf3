import Dispatch
import Glibc
package import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
import NetworkReachability

/// An HTTP/1.1 server on a Unix socket, on loopback addresses, and on any address with TLS. One thread serves all connections. Thread-safe.
package final class WebServer: Sendable {
    /// A function that answers a request by calling its argument exactly once, on any thread. It runs on the thread of the server, which
    /// it must not block.
    package typealias Handler = @Sendable (WebRequest, @escaping @Sendable (WebAnswer) -> Void) -> Void

    /// The state that all connections share.
    struct Shared: Sendable {
        let limits: WebLimits
        let respond: Handler
        let statistics = Locked(WebStatistics())
        /// The group of the running answers.
        let runningAnswers = DispatchGroup()
    }

    private struct State {
        var quota: ConnectionQuota
        var listening: [any Channel] = []
        var connections: [ObjectIdentifier: (channel: any Channel, transport: Transport)] = [:]
        var socket: SocketPath?
        var hasEnded = false
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let shared: Shared
    private let tls: @Sendable () -> NIOSSLContext?
    private let state: Locked<State>

    /// - Parameter tls: Returns the TLS context of a new connection. If nil, the connection is refused.
    package init(
        limits: WebLimits = WebLimits(),
        tls: @escaping @Sendable () -> NIOSSLContext? = { nil },
        respond: @escaping Handler
    ) {
        shared = Shared(limits: limits, respond: respond)
        self.tls = tls
        state = Locked(State(quota: ConnectionQuota(limit: limits.connections)))
    }

    /// The counters of the server.
    package var statistics: WebStatistics { shared.statistics.withLock(\.self) }

    // MARK: Listening

    /// Listens at a TCP address.
    ///
    /// - Returns: The address as text. If its port is 0, the text has the port that the kernel chose.
    package func listen(at address: ListenAddress) async throws(ListenError) -> String {
        let transport: Transport = address.isSecured ? .secured : address.isPublic ? .open : .loopback
        let channel = try await listen(transport, at: address.text(port: Int(address.port))) {
            try $0.bind(to: SocketAddress(ipAddress: address.address.description, port: Int(address.port)))
        }
        return address.text(port: channel.localAddress?.port ?? Int(address.port))
    }

    /// Listens at a Unix socket.
    ///
    /// - Parameter mode: The permissions of the socket. A client needs write permission to connect.
    package func listen(at path: String, mode: UInt32) async throws(ListenError) {
        let place = try SocketPath(path)
        _ = try await listen(.local, at: path.printable) { $0.bind(unixDomainSocketPath: path) }
        do { try OwnFile.setMode(path, mode) } catch { throw ListenError("cannot listen at \(path.printable)", error) }
        state.withLock { $0.socket = place }
    }

    /// Listens at an inherited socket. The file of a Unix socket is not removed at the end.
    ///
    /// - Parameter isSecured: True if the socket uses TLS.
    /// - Returns: The address as text.
    package func listen(at socket: ListeningSocket, isSecured: Bool = false) async throws(ListenError) -> String {
        let place = try InheritedAddress(socket, isSecured: isSecured)
        _ = try await listen(place.transport, at: place.text) { $0.withBoundSocket(socket.number) }
        return place.text
    }

    private func listen(
        _ transport: Transport,
        at place: String,
        _ bind: (ServerBootstrap) throws -> EventLoopFuture<any Channel>
    ) async throws(ListenError) -> any Channel {
        do {
            let channel = try await bind(bootstrap(transport)).get()
            state.withLock { $0.listening.append(channel) }
            return channel
        } catch let error as IOError {
            let reason = SystemError(rawValue: error.errnoCode)
            guard reason == .addressInUse else { throw ListenError("cannot listen at \(place)", reason) }
            throw ListenError(.taken, "cannot listen at \(place): another program listens there")
        } catch {
            throw ListenError(.failed, "cannot listen at \(place): \(error)")
        }
    }

    /// Ends all connections, waits until no answer is being computed, and removes the Unix socket.
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
        // Running answers are passed to the event loop, so it must still exist.
        await withCheckedContinuation { continuation in
            shared.runningAnswers.notify(queue: .global()) { continuation.resume() }
        }
        state.withLock { $0.socket.take() }?.leave()
        try? await group.shutdownGracefully()
    }

    /// Ends the TLS connections after their running answers, so that clients must authenticate again.
    package func endSecured() {
        for connection in state.withLock({ Array($0.connections.values) }) where connection.transport == .secured {
            connection.channel.pipeline.fireUserInboundEventTriggered(ServerEnding())
        }
    }

    // MARK: Connections

    /// The socket option IP_FREEBIND, `ip(7)`.
    private static let freeBind = ChannelOptions.socket(SocketOptionLevel(IPPROTO_IP), SocketOptionName(15))

    private func bootstrap(_ transport: Transport) -> ServerBootstrap {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            // With SO_REUSEADDR, a restarted server can bind the address of its predecessor.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: transport == .local ? 0 : 1)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                let peer: EventLoopFuture<WebRequest.Peer> =
                    switch transport {
                    case .local: PeerCredential.peer(of: channel)
                    case .loopback: channel.eventLoop.makeSucceededFuture(.loopback)
                    case .open: channel.eventLoop.makeSucceededFuture(.open)
                    case .secured: channel.eventLoop.makeSucceededFuture(.secured(certificate: nil))
                    }
                return peer.flatMapThrowing { [weak self] peer in
                    guard let self else { return channel.close(promise: nil) }
                    try self.accept(channel, transport, peer)
                }
            }
        // With IP_FREEBIND, the server can listen at an address before the interface has it.
        return [.secured, .open].contains(transport)
            ? bootstrap.serverChannelOption(Self.freeBind, value: 1) : bootstrap
    }

    private func accept(_ channel: any Channel, _ transport: Transport, _ peer: WebRequest.Peer) throws {
        let key = ObjectIdentifier(channel)
        let client: WebClient =
            if case .local(let user, _) = peer { user.map { .user($0) } ?? .unknown } else { WebClient(of: channel) }
        let isAdmitted = state.withLock { state in
            guard !state.hasEnded, state.quota.admit(client, over: transport) else { return false }
            state.connections[key] = (channel, transport)
            return true
        }
        guard isAdmitted else { return refuse(channel, transport) }
        shared.statistics.withLock { $0.connections += 1 }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { state in
                state.quota.release(client, over: transport)
                state.connections[key] = nil
            }
            self?.shared.statistics.withLock { $0.connections -= 1 }
        }
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderListSize = shared.limits.headerSize
        decoding.maxHeaderFieldSize = shared.limits.headerSize / 2
        decoding.maxHeaderFieldCount = shared.limits.headerCount
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
        try pipeline.addHandler(RequestHandler(peer, client, shared, firstBytes))
    }

    private func refuse(_ channel: any Channel, _ transport: Transport) {
        shared.statistics.withLock { $0.refused += 1 }
        // A TLS client does not understand plain HTTP.
        if transport == .secured { return channel.close(promise: nil) }
        let text =
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        channel.pipeline.eventLoop.execute {
            channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}

/// The limits of a web server.
package struct WebLimits: Sendable {
    /// The maximum number of connections. Further connections get 503.
    package var connections = 1_200
    /// The maximum size of the header fields of a request, in bytes. A single field may have half of it.
    package var headerSize = 16 << 10
    /// The maximum number of header fields of a request.
    package var headerCount = 64
    /// The maximum size of the body of a request, in bytes.
    package var bodySize = 64 << 10
    /// The timeout for the head of a request, counted from the connection or from the first bytes, and the timeout for its body.
    package var requestTime = Duration.seconds(10)
    /// The timeout from an answer to the first bytes of the next request.
    package var idleTime = Duration.seconds(60)
    /// The maximum time without progress of an answer. Each 64 KiB that the socket accepts restart it.
    package var answerTime = Duration.seconds(30)
    /// The maximum number of streams and waiting requests. Further ones are answered with 503.
    package var streams = 1_024
    /// The maximum number of unread bytes of a stream. It is enough for the events of 1,000 targets that fail at the same time. Clients
    /// share the memory of the events.
    package var streamBytes = 8 << 20

    package init() {}

    /// The maximum number of streams and waiting requests, at most seven eighths of the connections. The rest is reserved for other
    /// requests.
    var effectiveStreams: Int { min(streams, connections - connections / 8) }
}

/// Counters of a server since its start.
package struct WebStatistics: Sendable {
    /// The current number of connections.
    package var connections = 0
    /// The number of refused connections.
    package var refused: UInt64 = 0
    /// The number of answers by the first digit of the status code.
    package var answers: [Int: UInt64] = [:]
    /// The number of connections that ended by a timeout.
    package var expired: UInt64 = 0
    /// The current number of streams and waiting requests.
    package var streams = 0
    /// The number of streams that were ended because the client read too slowly.
    package var slowStreams: UInt64 = 0

    package init() {}
}
