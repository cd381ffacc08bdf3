import Netlink

extension FakeKernel {
    /// A burst on its way.
    struct Hint: Sendable {
        var burst: EventBurst
        /// What the network was when it was sent, where more of a batch follow.
        var stateThen: FakeNetwork?
        /// What the network was before, where the notification overtakes the state.
        var staleState: FakeNetwork?
    }
}
