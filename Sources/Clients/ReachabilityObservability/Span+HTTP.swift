import ReachabilityRetry
import Tracing

/// OpenTelemetry's semantic conventions for HTTP spans.
extension Span {
    /// What a request is, and where it goes.
    func describe(_ request: PlainRequest) {
        let method = request.method.rawValue
        attributes["http.request.method"] = request.isMethodKnown ? method : "_OTHER"
        if !request.isMethodKnown { attributes["http.request.method_original"] = method }
        guard let url = RequestURL(request.url) else { return }
        attributes["url.full"] = url.place
        attributes["server.address"] = url.host
        attributes["server.port"] = url.port
    }

    /// Ends it with what came of it.
    func end(status: Int?, error: (any Error)?) {
        if let status { attributes["http.response.status_code"] = status }
        if let status, status >= 400 {
            fail("\(status)")
        } else if let error {
            fail((error as? AttemptError)?.code ?? "\(type(of: error))")
        }
        end()
    }

    private func fail(_ type: String) {
        attributes["error.type"] = type
        setStatus(SpanStatus(code: .error))
    }
}

extension PlainRequest {
    private static let knownMethods: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
    ]

    /// Whether the method is one of RFC 9110 or RFC 5789: a server, or a user, may make up any number of others.
    var isMethodKnown: Bool { Self.knownMethods.contains(method.rawValue) }

    /// A name of which there are few.
    var spanName: String { isMethodKnown ? method.rawValue : "HTTP" }
}

extension RequestURL {
    /// Without user, password and query, which may be secrets.
    var place: String { origin + path }
}
