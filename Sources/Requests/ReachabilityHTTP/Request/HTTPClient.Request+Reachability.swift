import AsyncHTTPClient
import NIOHTTP1
import ReachabilityRetry

extension HTTPClient.Request {
    /// Whose reachability a request depends on: its host without the brackets of an IPv6 address; for a Unix domain socket, which
    /// needs no network, the loopback address.
    var reachableHost: String {
        guard !host.isEmpty else { return "127.0.0.1" }
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}

extension HTTPClient.Request {
    /// Reads a URL as the client will.
    static func checked(_ url: String, _ options: RequestRetryOptions) throws(RetryError) -> HTTPClient.Request {
        do {
            return try HTTPClient.Request(url: url)
        } catch {
            throw RetryError(refused: error, priority: options.priority)
        }
    }
}

extension RequestRetryOptions {
    /// The options for a client that may have a proxy: then its reachability is what counts. async-http-client does not tell its
    /// settings; what is not recognised counts as none.
    func through(_ client: HTTPClient) -> RequestRetryOptions {
        guard host == nil, let proxy = Mirror(reflecting: client).descendant("configuration", "proxy") else {
            return self
        }
        var options = self
        options.host = (proxy as? HTTPClient.Configuration.Proxy)?.host
        return options
    }
}

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
