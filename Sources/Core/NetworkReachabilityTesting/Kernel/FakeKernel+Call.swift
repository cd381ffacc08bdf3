import Dispatch

extension FakeKernel {
    /// A queue on which a connection is to be rung.
    struct Call: Sendable {
        let queue: DispatchQueue
        let connection: UInt64
    }
}
