package import AsyncHTTPClient
import NIOHTTP1
import ReachabilityRetry
import Tracing

extension HTTPClient.Request {
    /// Whose reachability a request depends on: its host without the brackets of an IPv6 address; for a Unix domain socket, which
    /// needs no network, the loopback address.
    var reachableHost: String {
        guard !host.isEmpty else { return "127.0.0.1" }
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}

extension HTTPClient.Request {
    /// Reads method and URL as the client will.
    static func checked(
        _ request: HTTPClientRequest,
        _ options: RequestRetryOptions
    ) throws(RetryError) -> HTTPClient.Request {
        do {
            return try HTTPClient.Request(url: request.url, method: request.method)
        } catch {
            throw RetryError(refused: error, priority: options.priority)
        }
    }
}

/// What matters of a client's settings, which async-http-client does not tell: this looks at how the client is made up. That takes longer
/// than a small request, so who sends many looks once.
package struct ClientSettings: Sendable {
    /// Whose reachability counts where all goes through a proxy; nil where there is none, or it is not recognised.
    let proxyHost: String?
    /// Whether the client would follow redirects by itself; also where that is not recognised.
    let followsRedirects: Bool
    /// Whether it may speak HTTP/2, where TLS agrees on it.
    let maySpeakHTTP2: Bool
    /// Whether it adds the fields of a trace by itself, which it does in its asynchronous form alone.
    let tracesAsynchronous: Bool

    package init(_ client: HTTPClient) {
        let configuration =
            Mirror(reflecting: client).descendant("configuration") as? HTTPClient.Configuration
        proxyHost = configuration?.proxy?.host
        maySpeakHTTP2 = configuration?.httpVersion != .http1Only
        tracesAsynchronous = client.tracer.map { !($0 is NoOpTracer) } ?? false
        let mode = configuration.flatMap { Mirror(reflecting: $0.redirectConfiguration).descendant("mode") }
        followsRedirects = mode.map { "\($0)" } != "disallow"
    }
}

extension RequestRetryOptions {
    /// The options for a client with these settings.
    func with(_ settings: ClientSettings) -> RequestRetryOptions {
        var options = self
        options.host = host ?? settings.proxyHost
        options.redirects = redirects ?? (settings.followsRedirects ? .follow() : RedirectRule.none)
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
        self.init(value, AnswerHead(status: Int(status.code)) { headers.first(name: $0) })
    }
}
