import LinuxSupport
package import NIOCore
import NIOHTTP1
package import NIOPosix

/// A connector that connects over TCP to the first address of the host that accepts (RFC 8305, as SwiftNIO implements
/// it).
package struct SocketConnector: HTTPConnecting {
    /// The maximum number of bytes of one read.
    static let readBytes = 16 << 10

    let group: MultiThreadedEventLoopGroup
    /// The resolver; nil for `getaddrinfo(3)`.
    var resolver: (any Resolver & Sendable)?

    /// Creates a connector.
    ///
    /// - Parameter group: The event loops of the connections. If it is shut down, requests fail.
    package init(group: MultiThreadedEventLoopGroup) {
        self.group = group
    }

    package func nextLoop() -> any EventLoop { group.next() }

    package func connect(
        to target: ConnectionTarget,
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        let bootstrap = ClientBootstrap(group: loop)
            .resolver(resolver)
            .connectTimeout(TimeAmount(limit: target.settings.connectTimeLimit))
            // One read at a time, so that a handler that has enough data receives no further data.
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readBytes))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try prepare(channel) }
            }
        // The resolver of an event loop performs one lookup at a time, so a slow name would delay connections to
        // addresses.
        if let address = try? SocketAddress(ipAddress: target.host, port: target.port) {
            return bootstrap.connect(to: address)
        }
        return bootstrap.connect(host: target.host, port: target.port)
    }
}

/// A source of connections. Web probes implement it with sockets that are already connected.
package protocol HTTPConnecting: Sendable {
    /// Returns the event loop of the next request.
    func nextLoop() -> any EventLoop

    /// Connects to a name or an address. Before the channel is used, it is passed to `prepare` on the event loop.
    func connect(
        to target: ConnectionTarget,
        on loop: any EventLoop,
        prepare: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel>
}

/// The destination of a connection: the server, or its proxy.
package struct ConnectionTarget: Sendable {
    /// The name or address.
    package let host: String
    package let port: Int
    package let settings: TrustedHTTPSettings

    init(_ url: TrustedHTTPURL, _ settings: TrustedHTTPSettings) {
        host = settings.proxy?.host ?? url.lookupName
        port = settings.proxy?.port ?? url.port
        self.settings = settings
    }
}

extension TimeAmount {
    /// Creates a time limit of at most a hundred years, so that deadlines do not overflow.
    init(limit: Duration) {
        self = TimeAmount(min(max(limit, .zero), .seconds(100 * 365 * 86_400)))
    }
}

/// A handler that refuses connections to addresses of this machine and of local links. Otherwise a certificate of an
/// unknown server could make this program contact services that trust local clients. The address is checked after the
/// name lookup.
final class LocalAddressGuard: ChannelOutboundHandler {
    typealias OutboundIn = Any

    func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        guard Self.isLocal(address) else { return context.connect(to: address, promise: promise) }
        promise?.fail(Refusal())
    }

    struct Refusal: Error, CustomStringConvertible {
        let description =
            "it is a loopback, link-local or multicast address, which is not permitted"
    }

    /// Returns whether an address is loopback, link-local, unspecified (which reaches loopback) or multicast (RFC
    /// 6890), also as IPv4 within IPv6. Private addresses are not local, because private networks have their own
    /// authorities there.
    static func isLocal(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4: return address.octets.map(isLocalV4) ?? true
        case .v6:
            guard let octets = address.octets else { return true }
            // ::/96 contains the unspecified and the loopback address. ::ffff:0:0/96 and 64:ff9b::/96 contain IPv4
            // addresses.
            let prefix = Array(octets.prefix(12))
            let zeros = [UInt8](repeating: 0, count: 10)
            if prefix == zeros + [0, 0] { return true }
            if prefix == zeros + [0xff, 0xff] || prefix == [0, 0x64, 0xff, 0x9b] + zeros.prefix(8) {
                return isLocalV4(Array(octets.suffix(4)))
            }
            return octets[0] == 0xff || octets[0] == 0xfe && octets[1] & 0xc0 == 0x80
        case .unixDomainSocket: return true
        }
    }

    private static func isLocalV4(_ octets: [UInt8]) -> Bool {
        octets[0] == 0 || octets[0] == 127 || octets[0] == 169 && octets[1] == 254 || octets[0] >= 224
    }
}

extension SocketAddress {
    /// The bytes of the address in network byte order; nil if it is not an IP address.
    fileprivate var octets: [UInt8]? {
        ipAddress.flatMap { WireAddress(String($0.prefix { $0 != "%" }))?.bytes }
    }
}

/// A handler that requests a tunnel from a proxy (CONNECT, RFC 9110, 9.3.6). Its promise ends with the response, an
/// error, or the removal of the handler.
final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let opened: EventLoopPromise<Void>

    init(authority: String, authorization: String?, opened: EventLoopPromise<Void>) {
        var headers = HTTPHeaders([("Host", authority)])
        if let authorization { headers.add(name: "Proxy-Authorization", value: authorization) }
        head = HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: authority, headers: headers)
        self.opened = opened
    }

    func handlerAdded(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard !(200..<300).contains(head.status.code) else { return }
            opened.fail(
                TrustedHTTPFailure.proxyRefused(status: Int(head.status.code), reason: head.status.reasonPhrase)
            )
        case .body: break
        case .end:
            // The promise succeeds later on the event loop, so that an error about bytes after the response comes
            // first. The server sends no bytes before TLS begins.
            context.eventLoop.execute { [opened] in opened.succeed() }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        opened.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        opened.fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        opened.fail(ChannelError.ioOnClosedChannel)
    }
}
