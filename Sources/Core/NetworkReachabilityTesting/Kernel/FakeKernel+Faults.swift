import LinuxPrimitives
import Netlink

extension FakeKernel {
    /// Lets the kernel lose messages for want of buffer space: listeners hear of the loss, not of the changes.
    ///
    /// - Parameter changes: what is changed without a hint.
    public func overrun<Failure: Error>(losing changes: () throws(Failure) -> Void = {}) throws(Failure) {
        state.withLock { $0.losesHints = true }
        defer {
            state.withLock { $0.losesHints = false }
            send(EventBurst(overruns: 1))
        }
        try changes()
    }

    /// Refuses every new connection from now on; nil allows them again.
    public func denyNetlink(_ fault: Fault? = .notPermitted) {
        state.withLock { $0.connectionFault = fault }
    }

    /// Answers no question from now on; nil answers again.
    public func failQuestions(_ fault: Fault? = .noBufferSpace) {
        state.withLock { $0.questionFault = fault }
    }

    /// Lets notifications overtake the state they announce, as they do on Linux: after a hint the first lookup still
    /// gives the old answer, unless a question about a link came between, which waits for the change to be complete.
    public func delayState(_ delays: Bool = true) {
        state.withLock { $0.delaysState = delays }
    }

    /// Deletes the namespace and makes it again under the same name, empty. Connections that are open stay behind in the
    /// old one, where nothing happens any more.
    public func replaceNamespace() {
        let watchers = state.withLock { state in
            for id in state.connections.keys { state.connections[id]?.strand(in: state.network) }
            state.network = FakeNetwork()
            return Array(state.namespaceWatchers.values)
        }
        for changed in watchers { changed() }
    }

    /// Lets what the kernel tells be unreadable from now on, on every connection that listens; new ones can be read.
    public func failListening(_ fault: Fault = .noBufferSpace) {
        var burst = EventBurst()
        burst.failure = fault.cause
        send(burst)
    }

    /// Sends a message that is not the kernel's: another process wrote to the socket.
    public func sendForeignMessage() {
        send(EventBurst(foreign: 1))
    }
}
