import NIOCore
import NIOPosix
import NIOSSL

/// Begins a handshake with a server to see the certificates it sends, and breaks it off.
struct ChainFetcher: Sendable {
    private let context: Result<NIOSSLContext, any Error>

    /// As the client's connections, but without its certificate.
    init(_ configuration: TLSConfiguration, offersHTTP2: Bool) {
        var configuration = configuration
        configuration.applicationProtocols = offersHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        configuration.certificateChain = []
        configuration.privateKey = nil
        // Or the certificates would not be shown; nothing is trusted by it.
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        configuration.additionalTrustRoots = []
        context = Result { try NIOSSLContext(configuration: configuration) }
    }

    /// In DER, as the server that `peer` is connected to sends them to whoever asks for the same name. Cancelling ends the connection.
    func certificates(of peer: ConnectionPeer, on eventLoop: any EventLoop) async throws -> [[UInt8]] {
        let context = try context.get()
        guard let remote = peer.remoteAddress else { throw ChannelError.unknownLocalAddress }
        let sent = FirstResult<[[UInt8]]>(on: eventLoop)
        var bootstrap = ClientBootstrap(group: eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let handler = try NIOSSLClientHandler(
                    context: context,
                    serverHostname: peer.serverName,
                    customVerificationCallback: { certificates, verdict in
                        sent.complete(Result { try certificates.map { try $0.toDERBytes() } })
                        verdict.succeed(.failed)
                    }
                )
                try channel.pipeline.syncOperations.addHandler(handler)
            }
        }
        if var local = peer.localAddress {
            local.port = 0
            bootstrap = bootstrap.bind(to: local)
        }
        let connection = bootstrap.connect(to: remote)
        // A promise that nobody keeps stops a debug build.
        connection.whenFailure { sent.complete(.failure($0)) }
        let channel = try await connection.get()
        channel.closeFuture.whenComplete { _ in sent.complete(.failure(ChannelError.eof)) }
        return try await withTaskCancellationHandler {
            let certificates = try await sent.future.get()
            channel.close(mode: .all, promise: nil)
            return certificates
        } onCancel: {
            channel.close(mode: .all, promise: nil)
        }
    }
}
