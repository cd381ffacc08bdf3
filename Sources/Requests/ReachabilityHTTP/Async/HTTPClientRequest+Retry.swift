import AsyncHTTPClient
import NIOHTTP1
import ReachabilityRetry

extension HTTPClientRequest {
    /// As adapters see it.
    var plain: PlainRequest { PlainRequest(method: method, url: url, headers: headers) }

    /// The request as an adapter wants it.
    func adapted(to plain: PlainRequest) -> HTTPClientRequest {
        var request = self
        request.url = plain.url
        request.method = HTTPMethod(rawValue: plain.method.rawValue)
        request.headers = plain.headers
        return request
    }
}
