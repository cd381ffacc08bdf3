/// Keeps a listener alive: letting go of it, or cancelling it, is the end of the listener.
public final class NetworkReachabilityToken: Sendable {
    private let subscription: Subscription

    init(_ subscription: Subscription) {
        self.subscription = subscription
    }

    deinit {
        cancel()
    }

    /// Ends the listener, at any time, also inside of it; never waits. Called on the listener's own serial queue, no call
    /// follows.
    public func cancel() {
        subscription.end()
    }
}
