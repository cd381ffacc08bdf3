/// An adapter could not change a request before it was sent, or its body could not be made: that ends the request.
public struct AdapterFailure: RetryableError, CustomStringConvertible {
    /// What was thrown.
    public let cause: any Error

    /// A request that could not be made ready for this.
    public init(cause: any Error) {
        self.cause = cause
    }

    /// Makes what a request is sent with.
    package static func wrapping<Value>(_ make: () throws -> Value) throws -> Value {
        do {
            return try make()
        } catch {
            throw AdapterFailure(cause: error)
        }
    }

    /// Not retried, whatever the cause says of itself: that is another request's failure.
    public var failureStage: FailureStage? { nil }

    /// One sentence.
    public var description: String { "the request could not be made ready, so it was not sent: \(cause)" }
}
