import LinuxPrimitives

/// The answer of the latest attempt while it is not decided whether it is the last one.
final class HeldAnswer<Value: Sendable>: Sendable {
    private let value = Locked<Value?>(nil)

    func hold(_ answer: Value) {
        value.withLock { $0 = answer }
    }

    func take() -> Value? {
        value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}
