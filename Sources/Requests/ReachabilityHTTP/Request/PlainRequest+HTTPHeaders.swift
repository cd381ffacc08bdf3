import NIOHTTP1
import ReachabilityRetry

extension PlainRequest {
    init(method: HTTPMethod, url: String, headers: HTTPHeaders) {
        self.init(
            method: RequestMethod(rawValue: method.rawValue),
            url: url,
            fields: headers.map { Field(name: $0.name, value: $0.value) }
        )
    }

    var headers: HTTPHeaders { HTTPHeaders(fields.map { ($0.name, $0.value) }) }
}
