import NIOCore
import NIOPosix

/// Connects over TCP, to whichever address of the host answers first (RFC 8305, as SwiftNIO does it).
struct SocketConnector: HTTPConnecting {
    /// What is read at once.
    static let readBytes = 16 << 10

    let group: MultiThreadedEventLoopGroup
    /// Nil for getaddrinfo(3).
    var resolver: (any Resolver & Sendable)?

    func nextLoop() -> any EventLoop { group.next() }

    func connect(
        to target: FlightTarget,
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        let bootstrap = ClientBootstrap(group: loop)
            .resolver(resolver)
            .connectTimeout(TimeAmount(limit: target.settings.connectTimeLimit))
            // Who says stop after one read gets no other.
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try prepare(channel) }
            }
        // Not through the resolver, which looks up one after the other for each loop: a slow name would hold up addresses.
        if let address = try? SocketAddress(ipAddress: target.host, port: target.port) {
            return bootstrap.connect(to: address)
        }
        return bootstrap.connect(host: target.host, port: target.port)
    }
}

/// Makes connections: a seam, for the loops of tests have time of their own.
protocol HTTPConnecting: Sendable {
    /// Where the next request runs.
    func nextLoop() -> any EventLoop

    /// A connection to a name or an address, whose channels are given to `prepare` on the loop before they are used.
    func connect(
        to target: FlightTarget,
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel>
}

/// Whom a request connects to, and within which limits.
struct FlightTarget: Sendable {
    /// A name or an address.
    let host: String
    let port: Int
    let settings: TrustedHTTPSettings

    init(_ url: TrustedHTTPURL, _ settings: TrustedHTTPSettings) {
        host = settings.proxy?.host ?? url.lookupName
        port = settings.proxy?.port ?? url.port
        self.settings = settings
    }
}

extension TimeAmount {
    /// A limit that no arithmetic of deadlines overflows with: a hundred years are for ever.
    init(limit: Duration) {
        self = TimeAmount(min(max(limit, .zero), .seconds(100 * 365 * 86_400)))
    }
}
