import NIOCore

/// Stands next to the network and closes the connection at once when told: a close from above would wait for the farewell of TLS.
final class AbortHandler: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    /// What it is told with.
    struct Event: Sendable {}

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is Event else { return context.triggerUserOutboundEvent(event, promise: promise) }
        context.close(promise: promise)
    }
}
