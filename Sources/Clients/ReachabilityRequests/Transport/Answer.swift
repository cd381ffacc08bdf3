import AsyncHTTPClient
import FoundationEssentials
import ReachabilityRetry

/// What came of a request before it is read as something.
struct Answer: Sendable {
    var response: ResponseHead?
    var data: Data?
    /// The body, not read yet, of an answer that is read as it comes.
    var body: HTTPClientResponse.Body?
    var metrics = RequestMetrics()
    var error: RequestError?
    /// The number of checks that have judged it.
    var checkCount = 0
}

/// What was read of an answer.
struct ReceivedAnswer: Sendable {
    let head: ResponseHead
    /// Each redirect, and this answer; how many attempts each took is not known here.
    let visits: [(url: String, status: Int)]
    /// When its head was there, since the request was begun.
    let headTime: Duration
    var data = Data()
    /// The body, where it is read later.
    var body: HTTPClientResponse.Body?
    /// The number of checks that have judged it.
    let checkCount: Int
    /// Why it is not accepted.
    var refusal: RequestError?
}

extension Answer {
    /// - Parameter received: What was read last; nil where nothing was.
    init(_ received: ReceivedAnswer?, _ attempts: [RetryAttempt], error: RequestError?) {
        self.init(response: received?.head, data: received?.data, body: received?.body, error: error)
        metrics.attempts = attempts
        guard let received else { return }
        checkCount = received.checkCount
        metrics.receivedBytes = Int64(received.data.count)
        metrics.timeToHead = received.headTime
        // What has ended a hop is an attempt without an error.
        var counts = Array(repeating: 0, count: received.visits.count)
        var place = 0
        for attempt in attempts where place < counts.count {
            counts[place] += 1
            if attempt.error == nil { place += 1 }
        }
        metrics.hops = zip(received.visits, counts).map { visit, count in
            RequestMetrics.Hop(url: visit.url, statusCode: visit.status, attempts: count)
        }
    }
}
