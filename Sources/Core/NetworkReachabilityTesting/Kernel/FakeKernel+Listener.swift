import Dispatch
import Netlink

extension FakeKernel {
    /// What one connection has heard and not yet read.
    struct Listener: Sendable {
        var queue: DispatchQueue?
        var heard: (@Sendable (EventBurst) -> Void)?
        /// Whether the namespace of the connection is still the one that goes by its name.
        var isCurrent = true
        var pending: [Hint] = []
        /// Whether a hint was taken, and `heard` has not returned.
        var isDelivering = false
        /// What the network was when the last hint was sent; nil for what it is.
        var stateThen: FakeNetwork?
        /// What the network was before; lookups see it until a barrier or their first answer.
        var staleState: FakeNetwork?

        /// The hint that comes next.
        mutating func take() -> EventBurst? {
            guard !pending.isEmpty else { return nil }
            let hint = pending.removeFirst()
            isDelivering = true
            stateThen = hint.stateThen
            staleState = hint.staleState
            return hint.burst
        }

        /// Hears no more.
        mutating func close() {
            queue = nil
            heard = nil
            pending = []
            staleState = nil
            if isCurrent { stateThen = nil }
        }

        /// Stays behind in a namespace that lost its name, which nobody changes any more.
        mutating func strand(in network: FakeNetwork) {
            guard isCurrent else { return }
            isCurrent = false
            pending = []
            staleState = nil
            stateThen = network
        }
    }
}
