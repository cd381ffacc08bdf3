/// A request that has failed, as retriers see it.
public struct FailedRequest: Hashable, Sendable {
    /// The request as it was sent, adapted.
    public let request: PlainRequest

    /// How often it has been retried: 0 after the first attempt.
    public let retryCount: Int

    /// How far it got; nil where the error does not tell.
    public let stage: FailureStage?

    /// A request that has failed.
    public init(request: PlainRequest, retryCount: Int, stage: FailureStage?) {
        self.request = request
        self.retryCount = retryCount
        self.stage = stage
    }

    /// The status of the answer; nil if there was none.
    public var status: Int? {
        if case .answered(let status, _)? = stage { status } else { nil }
    }
}
