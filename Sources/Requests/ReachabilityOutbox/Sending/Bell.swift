import LinuxPrimitives

/// Wakes whoever sends when its own process has put something in. Rings while nobody waits count as one.
struct Bell: Sendable {
    private let continuation: Locked<AsyncStream<Void>.Continuation?> = Locked(nil)

    func ring() {
        continuation.withLock { $0 }?.yield()
    }

    /// The rings from now on; earlier listeners hear no more.
    func listen() -> (rings: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) {
        let (stream, new) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.withLock { $0 = new }
        return (stream, new)
    }
}
