/// A value that many hold together, because it is large or there are many of them.
final class SharedValue<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
