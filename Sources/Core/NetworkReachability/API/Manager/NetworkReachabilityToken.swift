/// Keeps a listener alive: letting go of it, or cancelling it, is the end of the listener.
public final class NetworkReachabilityToken: Sendable {
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) {
        self.cancellation = cancellation
    }

    deinit {
        cancel()
    }

    /// Ends the listener, at any time, also inside of it; never waits. Called on the listener's own serial queue, no call
    /// follows.
    public func cancel() {
        cancellation.cancel()
    }
}
