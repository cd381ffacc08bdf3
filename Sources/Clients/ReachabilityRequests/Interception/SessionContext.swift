import FoundationEssentials
public import ReachabilityRetry

/// Who sends in this task. Adapters and retriers in Alamofire's form are told the session by it, wherever they stand in a list of others.
struct SessionContext: Sendable {
    @TaskLocal static var current: SessionContext?

    let session: Session
    let requestID = UUID()
    /// Knows the answer that was read last.
    var reader: AnswerReader?
}

extension FailedRequest {
    /// The answer; nil if there was none. Its header fields are known only to who asks in the call of the retrier, not later and not from
    /// another queue.
    public var response: ResponseHead? {
        guard let status else { return nil }
        if let head = SessionContext.current?.reader?.latest?.head, head.statusCode == status { return head }
        return ResponseHead(url: request.url, statusCode: status)
    }
}

/// Why an adapter that needs a ``Session`` could not be asked: the request was sent without one.
public struct MissingSession: Error, CustomStringConvertible {
    /// What to do.
    public var description: String {
        "the adapter needs to know the session, and the request was not sent by one; send it with Session.request"
    }
}
