import NIOHTTP1
import ReachabilityRetry

extension ClientAnswer {
    init(_ value: Value, status: HTTPResponseStatus, headers: HTTPHeaders) {
        self.init(
            value,
            status: Int(status.code),
            retryAfter: headers.first(name: "Retry-After"),
            date: headers.first(name: "Date")
        )
    }
}
