import LinuxPrimitives
import Netlink

extension FakeKernel {
    /// How many questions were asked so far, lookups included.
    public var questionCount: Int { state.withLock { $0.questions } }

    /// How many routes were looked up so far.
    public var lookupCount: Int { state.withLock { $0.lookups } }

    /// In how many rounds they were, each of which is a way to the kernel and back.
    public var lookupRoundCount: Int { state.withLock { $0.lookupRounds } }

    /// How many connections are open.
    public var connectionCount: Int { state.withLock { $0.connections.count } }

    /// How many connections listen.
    public var listenerCount: Int { state.withLock { $0.connections.count { $0.value.queue != nil } } }
}
