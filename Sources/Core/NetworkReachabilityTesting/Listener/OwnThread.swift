import LinuxPrimitives

/// Runs what blocks on a thread of its own; nil when there are no threads left.
@discardableResult
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
    let (values, continuation) = AsyncStream.makeStream(of: Value.self)
    do throws(SystemError) {
        try Thread.detach {
            continuation.yield(body())
            continuation.finish()
        }
    } catch {
        return nil
    }
    return await values.first { _ in true }
}
