/// What a client was answered, and what decides whether that is the end of it.
package struct ClientAnswer<Value: Sendable>: Sendable {
    package let value: Value
    package let status: Int
    /// The field Retry-After.
    package let retryAfter: String?
    /// The field Date, which Retry-After is counted from.
    package let date: String?

    package init(_ value: Value, status: Int, retryAfter: String?, date: String?) {
        self.value = value
        self.status = status
        self.retryAfter = retryAfter
        self.date = date
    }
}
