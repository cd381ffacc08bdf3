import Dispatch
import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Retriers after an error of a serializer.
struct SerializerRetryTests {
    private struct Own: Error {}

    /// A retrier that returns these results in turn, then the last again and again, and records the calls.
    private func retrier(_ results: [RetryResult], _ calls: Locked<[String]>) -> Retrier {
        Retrier { request, _, error, completion in
            let count = calls.withLock { calls in
                let kind = error.asAFError?.isResponseSerializationError == true ? "serializer" : "request"
                calls.append("\(kind) \(request.retryCount) \(request.response?.statusCode ?? 0)")
                return calls.count
            }
            completion(results[min(count, results.count) - 1])
        }
    }

    @Test(arguments: ["data", "upload", "download", "task"])
    func `a retrier has the request sent again after an error of a serializer`(kind: String) async throws {
        let replies = Replies([Reply("x"), Reply("y"), Reply("7")])
        try await withServer({ _ in replies.next() }) { lab in
            let calls = Locked<[String]>([])
            let recorder = EventRecorder()
            let session = try lab.session(
                interceptor: retrier([.retry, .retryWithDelay(0.001)], calls),
                monitors: [recorder]
            )
            let url = lab.server.url()
            let request: Request
            let response: AFDataResponse<Int>
            switch kind {
            case "download":
                let download = session.download(url)
                request = download
                response = await withCheckedContinuation { continuation in
                    download.responseDecodable { continuation.resume(returning: $0) }
                }
                response.fileURL.map { try? FileManager.default.removeItem(at: $0) }
            case "task":
                let data = session.request(url)
                request = data
                response = await data.serializingDecodable(Int.self).response
            default:
                let data = kind == "data" ? session.request(url) : session.upload(Data("body".utf8), to: url)
                request = data
                response = await withCheckedContinuation { continuation in
                    data.responseDecodable { continuation.resume(returning: $0) }
                }
            }
            #expect(response.value == 7 && lab.server.seen.count == 3 && request.retryCount == 2)
            #expect(calls.withLock { $0 } == ["serializer 0 200", "serializer 1 200"])
            #expect(response.metrics?.attempts.count == 3 && request.tasks.count == 3)
            #expect(lab.server.seen.allSatisfy { $0.body == (kind == "upload" ? Array("body".utf8) : []) })
            let events = await recorder.events(through: "parsed Int")
            #expect(events.filter { $0 == "retry" }.count <= 2)
        }
    }

    @Test func `each handler has its own error of a retrier, and other handlers their values`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let calls = Locked<[String]>([])
            let session = try lab.session(interceptor: retrier([.doNotRetryWithError(Own()), .doNotRetry], calls))
            let request = session.request(lab.server.url())
            let (first, text, second) = (
                request.serializingDecodable(Int.self), request.serializingString(),
                request.serializingDecodable(Int.self)
            )
            let error = await first.response.error
            #expect(error?.isRequestRetryError == true && error?.underlyingError is Own)
            #expect(try await text.value == "x" && request.error == nil && request.isFinished)
            #expect(await second.response.error?.isResponseSerializationError == true)
            #expect(calls.withLock { $0 } == ["serializer 0 200", "serializer 0 200"] && lab.server.seen.count == 1)
            // A handler that is added after the end has the answer, and calls no retrier.
            #expect(await request.serializingDecodable(Int.self).response.error?.isResponseSerializationError == true)
            #expect(calls.withLock { $0.count } == 2)
        }
    }

    @Test func `the retriers are called again about a failed request by each serializer, as in Alamofire`() async throws
    {
        let replies = Replies([Reply("x", status: 401), Reply("7")])
        try await withServer({ _ in replies.next() }) { lab in
            let calls = Locked<[String]>([])
            let session = try lab.session(interceptor: retrier([.doNotRetry, .retry], calls))
            let request = session.request(lab.server.url()).validate()
            #expect(try await request.serializingDecodable(Int.self).value == 7)
            #expect(calls.withLock { $0 } == ["request 0 401", "request 0 401"])
            #expect(request.retryCount == 1 && request.error == nil && lab.server.seen.count == 2)
        }
    }

    @Test func `a request without a serializer is not sent again`() async throws {
        try await withServer({ _ in Reply("x", status: 401) }) { lab in
            let calls = Locked<[String]>([])
            let request = try lab.session(interceptor: retrier([.doNotRetry], calls)).request(lab.server.url())
                .validate()
            let response: AFDataResponse<Data?> = await withCheckedContinuation { continuation in
                request.response { continuation.resume(returning: $0) }
            }
            #expect(response.error?.responseCode == 401 && calls.withLock { $0.count } == 1)
        }
    }

    @Test func `a request is cancelled while a retrier judges the error of a serializer`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let (calls, call) = AsyncStream.makeStream(of: Void.self)
            let silent = Retrier { _, _, _, _ in call.yield() }
            let request = try lab.session(interceptor: silent).request(lab.server.url())
            async let response = request.serializingDecodable(Int.self).response
            for await _ in calls { break }
            request.cancel()
            #expect(await response.error?.isExplicitlyCancelledError == true && request.isCancelled)
        }
    }
}

/// Adapters that are called when a request is created, and fields of the session.
struct AdaptationTests {
    private func adding(_ value: String) -> Adapter {
        Adapter { request, _, completion in
            var request = request
            request.headers["Trace"] = value
            completion(.success(request))
        }
    }

    @Test func `an eager session adapts a download at its creation`() async throws {
        try await withServer({ Reply($0.fields["trace"] ?? "-", fields: ["ETag": "\"1\""]) }) { lab in
            let recorder = EventRecorder()
            let session = try lab.session(
                interceptor: adding("1"),
                monitors: [recorder],
                startRequestsImmediately: false,
                requestSetup: .eager
            )
            let request = session.download(lab.server.url())
            #expect(await recorder.events(through: "task") == ["initial", "adapted - to 1", "request", "task"])
            #expect(request.isInitialized && lab.server.seen.isEmpty)
            #expect(request.lastTask?.originalRequest?.headers["Trace"] == "1")
            #expect(try await request.serializingString().value == "1")
            request.fileURL.map { try? FileManager.default.removeItem(at: $0) }
            #expect(lab.server.seen.first?.fields["accept-encoding"] == "identity")
        }
    }

    @Test(arguments: [true, false])
    func `an error of an adapter ends a request that was not sent`(isDownload: Bool) async throws {
        struct Refusal: Error {}
        try await withServer({ _ in Reply("x") }) { lab in
            let failing = Adapter { _, _, completion in completion(.failure(Refusal())) }
            let (errors, sink) = AsyncStream.makeStream(of: AFError?.self)
            let monitor = AdaptationMonitor { sink.yield($0.error) }
            let session = try lab.session(
                interceptor: failing,
                monitors: [monitor],
                startRequestsImmediately: false,
                requestSetup: .eager
            )
            let request: Request = isDownload ? session.download(lab.server.url()) : session.request(lab.server.url())
            for await error in errors {
                #expect(error?.isRequestAdaptationError == true && error?.underlyingError is Refusal)
                break
            }
            #expect(await request.exchange.value().error?.isRequestAdaptationError == true)
            #expect(request.isFinished && lab.server.seen.isEmpty)
        }
    }

    @Test func `the fields of the session are sent, and are not part of the request`() async throws {
        try await withServer({ $0.path == "/a" ? Reply(status: 302, fields: ["Location": "/b"]) : Reply("x") }) { lab in
            let session = try lab.session(interceptor: adding("1"), headers: [.userAgent("own"), .accept("text/html")])
            let request = session.request(lab.server.url("/a"), headers: [.accept("text/plain")])
            let response = await request.serializingString().response
            #expect(response.request?.headers.dictionary == ["Accept": "text/plain", "Trace": "1"])
            for seen in lab.server.seen {
                #expect(seen.fields["user-agent"] == "own" && seen.fields["accept"] == "text/plain")
                #expect(seen.fields["trace"] == "1")
            }
            #expect(lab.server.seen.count == 2 && request.cURLDescription().contains(#"-H "User-Agent: own""#))
        }
    }

    @Test func `a URL that cannot be sent is adapted, and fails as a task`() async throws {
        let session = Session(interceptor: adding("1"))
        let request = session.request(URLRequest(text: "/path"))
        let response = await request.serializingData().response
        #expect(response.request?.headers["Trace"] == "1" && response.error?.isSessionTaskError == true)
        #expect((response.error?.underlyingError as? ReachabilityRequests.URLError)?.code == .unsupportedURL)
        #expect(response.error?.description.contains("/path is not a URL") == true)
    }
}

private struct AdaptationMonitor: EventMonitor {
    let report: @Sendable (Request) -> Void
    var queue: DispatchQueue { .global() }

    func request(_ request: Request, didFailToAdaptURLRequest _: URLRequest, withError _: AFError) { report(request) }
}

/// Forms that are written to a file.
struct LongFormTests {
    @Test func `a form above the threshold is sent from a file, which is removed`() async throws {
        try await withServer({ Reply(String(decoding: $0.body, as: UTF8.self)) }) { lab in
            let request = try lab.session().upload(
                multipartFormData: { $0.append(Data("long".utf8), withName: "part") },
                to: lab.server.url(),
                usingThreshold: 4
            )
            #expect(request.uploadable == nil)
            #expect(try await request.serializingString().value.contains("\r\n\r\nlong\r\n"))
            guard case .file(let url, shouldRemove: true)? = request.uploadable else {
                Issue.record("\(String(describing: request.uploadable))")
                return
            }
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }

    @Test func `the file of a cancelled upload is removed`() async throws {
        try await withServer({ _ in .silence }) { lab in
            let request = try lab.session().upload(
                multipartFormData: { $0.append(Data("long".utf8), withName: "part") },
                to: lab.server.url(),
                usingThreshold: 0
            )
            request.resume()
            for await _ in lab.server.arrivals { break }
            guard case .file(let url, _)? = request.uploadable else {
                Issue.record("\(String(describing: request.uploadable))")
                return
            }
            #expect(FileManager.default.fileExists(atPath: url.path))
            request.cancel()
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }

    @Test func `arrays are sorted like the other parts, unless that is disabled`() throws {
        let value = ["a": [["b": [2, 1]], ["a": [3]]], "b": [["z": [0]]]]
        #expect(
            try URLEncodedFormEncoder(alphabetizeKeyValuePairs: true).encode(["a": ["2", "10", "1"]])
                == "a%5B%5D=1&a%5B%5D=10&a%5B%5D=2"
        )
        #expect(
            try URLEncodedFormEncoder(alphabetizeKeyValuePairs: false).encode(["a": ["2", "10", "1"]])
                == "a%5B%5D=2&a%5B%5D=10&a%5B%5D=1"
        )
        #expect(
            try URLEncodedFormEncoder(arrayEncoding: .noBrackets, keyPathEncoding: .dots).encode(value)
                == "a.a=3&a.b=1&a.b=2&b.z=0"
        )
    }
}
