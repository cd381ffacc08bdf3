package import NIOCore

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
