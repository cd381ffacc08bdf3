public import NIOHTTP1
public import ReachabilityRetry

/// What came back was no answer of HTTP/1, or ended in the middle of one.
extension HTTPParserError: RetryableError {
    /// May have been processed: the server has written something.
    public var failureStage: FailureStage? { .mayHaveBeenProcessed }
}
