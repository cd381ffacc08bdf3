import LinuxSupport
public import ReachabilityRetry
public import Tracing

/// A tracer that uses swift-distributed-tracing. Each request has a span, each attempt has a child span, and the waits
/// between attempts are events. The server receives the context of the attempt's span.
///
/// ```swift
/// var options = RequestRetryOptions()
/// options.tracer = SpanRequestTracer()
/// ```
///
/// | Span | Kind | Name | Attributes, by OpenTelemetry's conventions for HTTP |
/// |---|---|---|---|
/// | Request | internal | `request GET` | Those of an attempt except the count. `reachability.retry.ending`, if retries ended without a success. |
/// | Attempt | client | `GET` | `http.request.method`, `url.full`, `server.address`, `server.port`, `http.response.status_code`, `http.request.resend_count`, `error.type` |
///
/// | Event of a request | Attributes |
/// |---|---|
/// | `wait` | `reachability.retry.reason`; `reachability.retry.pause` in seconds, if a pause is planned |
/// | `redirect` | `url.full` of the next hop |
/// | `probe`, `disagreement` | none |
///
/// A URL is recorded without user, password, query and fragment, and an error only by its type. Their texts may contain
/// secrets and are unlimited in number. An unknown method is recorded as `_OTHER`. A status of 400 or more is an error.
///
/// If a tracer was bootstrapped before the client was created, async-http-client creates a span too. With its
/// asynchronous API that span is a child of the attempt's span, and the server receives its context. For one span per
/// attempt, set the client's `tracing.tracer` to nil.
public struct SpanRequestTracer: RequestTracer {
    private let tracer: (any Tracer)?

    /// Creates a tracer.
    ///
    /// - Parameter tracer: Creates the spans. If nil, the tracer that is bootstrapped when a request begins.
    public init(_ tracer: (any Tracer)? = nil) {
        self.tracer = tracer
    }

    /// Begins the span of a request as a child of the task's span.
    public func begin(_ request: RequestHead) -> any RequestTrace {
        RequestSpan(request, tracer ?? InstrumentationSystem.tracer)
    }
}

/// The span of a request.
private struct RequestSpan: RequestTrace {
    private let tracer: any Tracer
    private let span: any Span
    /// The number of attempts that have begun.
    private let attempts = Locked(0)

    init(_ request: RequestHead, _ tracer: any Tracer) {
        self.tracer = tracer
        span = tracer.startSpan("request \(request.spanName)", ofKind: .internal)
        span.describe(request)
    }

    func beginAttempt(_ request: RequestHead) -> any AttemptTrace {
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
    let fields: [RequestHead.Field]

    private let span: any Span

    init(_ request: RequestHead, _ tracer: any Tracer, parent: any Span, resends: Int) {
        span = tracer.startSpan(request.spanName, context: parent.context, ofKind: .client)
        span.describe(request)
        if resends > 0 { span.attributes["http.request.resend_count"] = resends }
        var fields: [RequestHead.Field] = []
        tracer.inject(span.context, into: &fields, using: FieldInjector())
        self.fields = fields
    }

    func run<Value>(_ attempt: () async -> Value) async -> Value {
        await ServiceContext.withValue(span.context) { await attempt() }
    }

    func end(_ request: RequestHead?, status: Int?, error: (any Error)?) {
        if let request { span.describe(request) }
        span.end(status: status, error: error)
    }
}

/// An injector that adds the trace context as header fields.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout [RequestHead.Field]) {
        fields.append(RequestHead.Field(name: key, value: value))
    }
}

/// The attributes of OpenTelemetry's semantic conventions for HTTP spans.
extension Span {
    /// Sets the attributes of a request and its URL.
    func describe(_ request: RequestHead) {
        let method = request.method.rawValue
        attributes["http.request.method"] = request.isMethodKnown ? method : "_OTHER"
        if !request.isMethodKnown { attributes["http.request.method_original"] = method }
        guard let url = RequestURL(request.url) else { return }
        attributes["url.full"] = url.place
        attributes["server.address"] = url.host
        attributes["server.port"] = url.port
    }

    /// Sets the attributes of the result, and ends the span.
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

extension RequestHead {
    private static let knownMethods: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
    ]

    /// A Boolean value that indicates whether the method is defined in RFC 9110 or RFC 5789. Servers and users may
    /// define any number of others.
    var isMethodKnown: Bool { Self.knownMethods.contains(method.rawValue) }

    /// The name of the span, from a small set.
    var spanName: String { isMethodKnown ? method.rawValue : "HTTP" }
}

extension RequestURL {
    /// The URL without user, password and query, which may be secrets.
    var place: String { origin + path }
}
