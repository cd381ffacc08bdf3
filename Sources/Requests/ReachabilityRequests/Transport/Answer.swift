import FoundationEssentials

/// What came of a request before it is read as something.
struct Answer: Sendable {
    var response: ResponseHead?
    var data: Data?
    var metrics = RequestMetrics()
    var error: RequestError?
}

/// What was read of an answer.
struct ReceivedAnswer: Sendable {
    let head: ResponseHead
    let data: Data
    /// Each redirect, and this answer; how many attempts each took is not known here.
    let visits: [(url: String, status: Int)]
    /// When its head was there, since the request was begun.
    let headTime: Duration
    /// Why it is not accepted.
    let refusal: RequestError?
}
