import NIOCore

extension NIODeadline {
    /// A time from now on; nil is for ever.
    init(after duration: Duration?) {
        self = duration.map { .now() + TimeAmount($0) } ?? .distantFuture
    }
}
