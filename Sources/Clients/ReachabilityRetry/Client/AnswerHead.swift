/// The head of a response, from any client.
public struct AnswerHead: Sendable {
    /// The status, 100 to 599.
    public let status: Int

    private let field: @Sendable (String) -> String?

    /// - Parameters:
    ///   - status: The status.
    ///   - field: The first value of a header field, whatever the case of its name.
    public init(status: Int, field: @escaping @Sendable (_ name: String) -> String?) {
        self.status = status
        self.field = field
    }

    /// The first value of a header field.
    public subscript(name: String) -> String? { field(name) }
}

/// The value of an attempt, and the head of the response, which decides what follows.
package struct ClientAnswer<Value: Sendable>: Sendable {
    package let value: Value
    package let head: AnswerHead

    package init(_ value: Value, _ head: AnswerHead) {
        self.value = value
        self.head = head
    }
}
