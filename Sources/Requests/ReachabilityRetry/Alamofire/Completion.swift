/// Waits for a completion to be called, and takes the value of its first call.
///
/// - Throws: `CancellationError` when the task is cancelled before.
func completed<Value: Sendable>(_ begin: (@escaping @Sendable (Value) -> Void) -> Void) async throws -> Value {
    let (values, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingOldest(1))
    begin { value in
        continuation.yield(value)
        continuation.finish()
    }
    for await value in values { return value }
    throw CancellationError()
}
