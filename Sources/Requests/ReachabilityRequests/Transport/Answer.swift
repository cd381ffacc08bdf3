import AsyncHTTPClient
import FoundationEssentials

/// What came of a request before it is read as something.
struct Answer: Sendable {
    var response: ResponseHead?
    var data: Data?
    /// The body, not read yet, of an answer that is read as it comes.
    var body: HTTPClientResponse.Body?
    var metrics = RequestMetrics()
    var error: RequestError?
}

/// What was read of an answer.
struct ReceivedAnswer: Sendable {
    let head: ResponseHead
    let data: Data
    /// The body, where it is read later.
    var body: HTTPClientResponse.Body?
    /// Each redirect, and this answer; how many attempts each took is not known here.
    let visits: [(url: String, status: Int)]
    /// When its head was there, since the request was begun.
    let headTime: Duration
    /// Why it is not accepted.
    let refusal: RequestError?
}
