public import NIOCore

extension ChannelPipeline.SynchronousOperations {
    /// Gives the connection TLS, and lets the factory's manager decide whether the server is trusted. Call it on the channel's event
    /// loop, usually in the channel's initializer.
    ///
    /// Nothing the application writes is sent before the manager has decided. When it does not trust the server, the connection is
    /// closed, and the error that goes through the pipeline, and fails the future, is its `ServerTrustError`. Everything
    /// else that can go wrong with a handshake is told in the errors of SwiftNIO and NIOSSL. When the channel closes while the manager
    /// is still being asked, its task is cancelled.
    ///
    /// - Parameters:
    ///   - factory: Whose handlers are added.
    ///   - host: Whom the connection is meant for: a host name in any script, or an IP address. Names are sent to the server as A-labels
    ///     (RFC 6066, section 3), addresses are not.
    ///   - position: Where: behind whatever changes the bytes of the network, before what speaks the application's protocol.
    /// - Returns: The handshake, when it is done. With TLS 1.3 a server that does not like the client's certificate says so only later.
    /// - Throws: `ServerTrustError` with `TrustFailure.invalidHost(_:)`; what the pipeline throws when the
    ///   channel is closed.
    @discardableResult
    public func addServerTrust(
        _ factory: ServerTrustHandlerFactory,
        host: String,
        position: Position = .last
    ) throws -> EventLoopFuture<TrustedHandshake> {
        let handshake = eventLoop.makePromise(of: TrustedHandshake.self)
        do {
            let handlers = try factory.makeHandlers(forHost: host, handshake: handshake)
            // First the one that listens: the other may begin to speak at once.
            try addHandler(handlers.trust, position: position)
            try addHandler(handlers.tls, position: .before(handlers.trust))
        } catch {
            handshake.fail(error)
            throw error
        }
        return handshake.futureResult
    }
}
