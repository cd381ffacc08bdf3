import AsyncHTTPClient
import InMemoryTracing
import Instrumentation
import LinuxSupport
import NIOCore
import NIOHTTP1
import NetworkLab
import ReachabilityHTTP
import ReachabilityObservability
import ReachabilityRetry
import TestSupport
import Testing
import Tracing

/// The spans of requests in a tracer in memory, and the trace fields that a server receives.
@Suite(.timeLimit(.minutes(15))) struct SpanRequestTracerTests {
    private let tracer = InMemoryTracer()

    private var settings: RetrySettings {
        get throws {
            let limits = try RetryLimits(rate: 10_000, spread: .zero, budget: RetryBudget(retryCost: 0))
            let coordinator = RetryCoordinator(
                limits: limits,
                reachability: UnmonitoredReachability(),
                random: SeededGenerator(seed: 1)
            )
            let backoff = try Backoff(base: .milliseconds(1), cap: .milliseconds(4))
            return RetrySettings(
                policy: try RetryPolicy(attempts: 4, backoff: backoff),
                options: RequestRetryOptions(coordinator: coordinator, tracer: SpanRequestTracer(tracer))
            )
        }
    }

    private func strings(_ span: FinishedInMemorySpan) -> [String: String] {
        var texts: [String: String] = [:]
        span.attributes.forEach { name, value in
            switch value {
            case .string(let text): texts[name] = text
            case .int64(let number): texts[name] = "\(number)"
            default: texts[name] = "\(value)"
            }
        }
        return texts
    }

    /// Sends a request, and returns its span, the spans of its attempts, and the requests that the server received.
    private func send(
        _ answers: [ScriptedReply],
        _ change: (inout HTTPClientRequest, inout RetrySettings) -> Void = { _, _ in },
        traces: Bool = false
    ) async throws -> (request: FinishedInMemorySpan, attempts: [FinishedInMemorySpan], seen: [ReceivedRequest]) {
        let server = try ScriptedServer(replies: answers)
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        configuration.tracing.tracer = traces ? tracer : nil
        let client = RetryingHTTPClient(configuration: configuration)
        var request = HTTPClientRequest(url: server.url("/a?token=secret"))
        var settings = try settings
        change(&request, &settings)
        _ = try? await client.overriding { $0 = settings }.execute(request)
        try await client.shutdown()
        server.stop()
        #expect(tracer.activeSpans.isEmpty)
        let spans = tracer.finishedSpans
        let whole = try #require(spans.first { $0.operationName.hasPrefix("request") })
        return (whole, spans.filter { $0.parentSpanID == whole.spanID }, server.received)
    }

    @Test func `a request has a span, a child span for each attempt, and an event for each wait`() async throws {
        let (request, attempts, seen) = try await send([.status(503), .disconnect, .status(200)])
        #expect(request.operationName == "request GET" && request.parentSpanID == nil && request.status == nil)
        #expect(strings(request)["http.response.status_code"] == "200" && strings(request)["error.type"] == nil)
        #expect(request.events.map(\.name) == ["wait", "wait"])
        #expect(request.events.allSatisfy { $0.attributes.get("reachability.retry.reason") == .string("backoff") })
        #expect(attempts.map(\.operationName) == ["GET", "GET", "GET"] && attempts.allSatisfy { $0.kind == .client })
        #expect(attempts.map { strings($0)["http.request.resend_count"] } == [nil, "1", "2"])
        #expect(attempts.map { strings($0)["http.response.status_code"] } == ["503", nil, "200"])
        #expect(attempts.map { strings($0)["error.type"] } == ["503", "HTTPClientError", nil])
        #expect(attempts.map { $0.status?.code } == [.error, .error, nil])
        for span in [request] + attempts {
            #expect(strings(span)["http.request.method"] == "GET" && strings(span)["server.address"] == "127.0.0.1")
            #expect(span.traceID == request.traceID)
        }
        #expect(seen.map { $0.fields[InMemoryTracer.spanIDKey] } == attempts.map(\.spanID))
    }

    @Test func `spans do not contain secrets of a URL or header field`() async throws {
        let (request, attempts, _) = try await send([.redirect(302, to: "/b?code=secret"), .status(404)]) {
            request,
            _ in
            request.url = request.url.replacing("://", with: "://user:secret@")
            request.headers.add(name: "Authorization", value: "secret")
        }
        let texts =
            ([request] + attempts).flatMap { strings($0).values }
            + request.events.flatMap { event in
                var texts: [String] = []
                event.attributes.forEach { texts.append("\($1)") }
                return texts
            }
        #expect(texts.allSatisfy { !$0.contains("secret") && !$0.contains("user") })
        #expect(request.events.map(\.name) == ["redirect"])
        #expect(attempts.compactMap { strings($0)["url.full"]?.suffix(2) } == ["/a", "/b"])
        #expect(strings(request)["error.type"] == "404" && request.status?.code == .error)
        #expect(attempts.map { strings($0)["http.request.resend_count"] } == [nil, "1"])
    }

    @Test func `the caller's span is the parent, and adapters run in the attempt's span`() async throws {
        let outer = tracer.startSpan("outer")
        let inner = Locked<InstrumentationContext?>(nil)
        let (request, attempts, _) = try await ServiceContext.withValue(outer.context) {
            try await send([.status(200)]) { request, settings in
                request.method = .RAW(value: "PURGE")
                settings.options.adapter = Adapter { request, completion in
                    inner.withLock { $0 = .current }
                    completion(.success(request))
                }
                outer.end()
            }
        }
        #expect(request.parentSpanID == outer.spanID && attempts.count == 1)
        #expect(inner.withLock { $0?.inMemorySpanContext?.spanID } == attempts.first?.spanID)
        #expect(request.operationName == "request HTTP" && attempts.first?.operationName == "HTTP")
        #expect(strings(request)["http.request.method"] == "_OTHER")
        #expect(strings(request)["http.request.method_original"] == "PURGE")
    }

    @Test func `the span of a failed request contains the type of the error but no message`() async throws {
        let (request, attempts, _) = try await send([.disconnect]) { request, _ in
            request.method = .POST
            request.body = .bytes(ByteBuffer(string: "x"))
        }
        #expect(strings(request)["reachability.retry.ending"] == "unsafeToRepeat")
        #expect(strings(request)["error.type"] == "HTTPClientError" && request.errors.isEmpty)
        #expect(attempts.count == 1 && strings(attempts[0])["error.type"] == "HTTPClientError")
    }

    /// A tracing client adds its own trace fields after the existing ones.
    @Test func `a server receives one span if the client traces, too`() async throws {
        let (request, attempts, seen) = try await send(
            [.status(200)],
            { request, _ in
                request.method = .PUT
                let (parts, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
                continuation.yield(ByteBuffer(string: "x"))
                continuation.finish()
                request.body = .stream(parts, length: .known(Int64(1)))
            },
            traces: true
        )
        #expect(attempts.count == 1 && seen.count == 1)
        let told = try #require(seen.first?.fields[InMemoryTracer.spanIDKey])
        let span = try #require(tracer.finishedSpans.first { $0.spanID == told })
        #expect(span.parentSpanID == attempts[0].spanID && span.traceID == request.traceID)
    }

    /// The trace field of the caller is replaced.
    @Test func `the trace fields of an attempt replace those of the caller`() async throws {
        let (_, attempts, seen) = try await send([.status(200)]) { request, _ in
            request.headers.add(name: InMemoryTracer.spanIDKey, value: "other")
        }
        #expect(seen.map { $0.fields[InMemoryTracer.spanIDKey] } == attempts.map(\.spanID))
    }
}
