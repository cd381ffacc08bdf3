import LinuxSupport
public import ReachabilityRetry
public import Tracing

/// Follows requests with swift-distributed-tracing: a span for each request, with one child for each attempt, and the waits between
/// them as events. A server is told the child it answers to.
///
/// ```swift
/// var options = RequestRetryOptions()
/// options.tracer = SpanRequestTracer()
/// ```
///
/// | Span | Kind | Name | Attributes, by OpenTelemetry's conventions for HTTP |
/// |---|---|---|---|
/// | a request | internal | `request GET` | those below but the count, and `reachability.retry.ending` where a retry would have made sense or there is no answer |
/// | an attempt | client | `GET` | `http.request.method`, `url.full`, `server.address`, `server.port`, `http.response.status_code`, `http.request.resend_count`, `error.type` |
///
/// | Event of a request | Attributes |
/// |---|---|
/// | `wait` | `reachability.retry.reason`; `reachability.retry.pause` in seconds, where one is planned |
/// | `redirect` | `url.full` of where it goes on |
/// | `probe`, `disagreement` | none |
///
/// Of a URL there is neither user, password, query nor fragment, of an error its type alone: texts may have secrets, and no end. A method
/// that is not known is `_OTHER`. A status from 400 on is an error.
///
/// async-http-client traces by itself, too, where a tracer was bootstrapped before the client was made. In its asynchronous form that span
/// becomes a child of the attempt's, and the server is told of that one; set the client's `tracing.tracer` to nil to have one span an
/// attempt.
public struct SpanRequestTracer: RequestTracer {
    private let tracer: (any Tracer)?

    /// - Parameter tracer: What makes the spans; nil for the one the system is bootstrapped with when a request begins.
    public init(_ tracer: (any Tracer)? = nil) {
        self.tracer = tracer
    }

    /// Begins the span of a request, as a child of the task's own.
    public func begin(_ request: PlainRequest) -> any RequestTrace {
        RequestSpan(request, tracer ?? InstrumentationSystem.tracer)
    }
}

/// The span of a request.
private struct RequestSpan: RequestTrace {
    private let tracer: any Tracer
    private let span: any Span
    /// How many attempts have begun.
    private let attempts = Locked(0)

    init(_ request: PlainRequest, _ tracer: any Tracer) {
        self.tracer = tracer
        span = tracer.startSpan("request \(request.spanName)", ofKind: .internal)
        span.describe(request)
    }

    func beginAttempt(_ request: PlainRequest) -> any AttemptTrace {
        let resends = attempts.withLock { attempts in
            defer { attempts += 1 }
            return attempts
        }
        return AttemptSpan(request, tracer, parent: span, resends: resends)
    }

    func record(_ event: RetryEvent) {
        switch event {
        case .waiting(_, let attempt, let pause):
            var attributes: SpanAttributes = [:]
            attributes["reachability.retry.reason"] = attempt.reason?.rawValue
            attributes["reachability.retry.pause"] = pause.map { $0 / .seconds(1) }
            span.addEvent(SpanEvent(name: "wait", attributes: attributes))
        case .redirected(_, let url):
            var attributes: SpanAttributes = [:]
            attributes["url.full"] = RequestURL(url)?.place
            span.addEvent(SpanEvent(name: "redirect", attributes: attributes))
        case .probing: span.addEvent("probe")
        case .disagreement: span.addEvent("disagreement")
        case .ended(_, let ending, _): span.attributes["reachability.retry.ending"] = ending?.rawValue
        }
    }

    func end(status: Int?, error: RetryError?) {
        if let error { span.attributes["reachability.retry.ending"] = error.ending.rawValue }
        span.end(status: status, error: error.map { $0.lastError ?? $0 })
    }
}

/// The span of an attempt.
private struct AttemptSpan: AttemptTrace {
    let fields: [PlainRequest.Field]

    private let span: any Span

    init(_ request: PlainRequest, _ tracer: any Tracer, parent: any Span, resends: Int) {
        span = tracer.startSpan(request.spanName, context: parent.context, ofKind: .client)
        span.describe(request)
        if resends > 0 { span.attributes["http.request.resend_count"] = resends }
        var fields: [PlainRequest.Field] = []
        tracer.inject(span.context, into: &fields, using: FieldInjector())
        self.fields = fields
    }

    func run<Value>(_ attempt: () async -> Value) async -> Value {
        await ServiceContext.withValue(span.context) { await attempt() }
    }

    func end(_ request: PlainRequest?, status: Int?, error: (any Error)?) {
        if let request { span.describe(request) }
        span.end(status: status, error: error)
    }
}

/// Puts what a server is to know into header fields.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout [PlainRequest.Field]) {
        fields.append(PlainRequest.Field(name: key, value: value))
    }
}

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
