import LinuxPrimitives
import Netlink

extension FakeKernel {
    /// Makes the changes of `body` as a process that asks from this netlink port. Changes other threads make meanwhile are its own, too.
    package func acting(from port: UInt32, _ body: () -> Void) {
        state.withLock { $0.author = .port(port) }
        body()
        state.withLock { $0.author = .kernel }
    }
}
