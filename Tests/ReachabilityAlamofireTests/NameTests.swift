import Dispatch
import FoundationEssentials
import LinuxSupport
import NetworkLab
import ReachabilityAlamofire
import Testing

/// Members of cookies, headers, encoders and bundles.
struct MemberNameTests {
    private let url = URL(string: "https://www.example.com/a/b/c?q") ?? URL(filePath: "/")

    @Test func `a cookie is created from its properties`() throws {
        let cookie = try #require(
            HTTPCookie(properties: [.name: "n", .value: "v", .domain: ".example.com", .path: "/", .secure: "TRUE"])
        )
        let storage = HTTPCookieStorage()
        storage.setCookie(cookie)
        #expect(storage.cookies(for: url)?.map(\.value) == ["v"])
        #expect(HTTPCookie(properties: cookie.properties ?? [:]) == cookie && cookie.isSecure && cookie.isSessionOnly)
        #expect(HTTPCookie.requestHeaderFields(with: [cookie, cookie]) == ["Cookie": "n=v; n=v"])
        let ofOrigin = HTTPCookie(properties: [
            .name: "n", .value: 1, .originURL: url, .path: "/", .maximumAge: "10",
        ])
        #expect(ofOrigin?.domain == "www.example.com" && ofOrigin?.expiresDate != nil)
        for missing in [HTTPCookiePropertyKey.name, .value, .domain, .path] {
            var properties = cookie.properties ?? [:]
            properties[missing] = nil
            #expect(HTTPCookie(properties: properties) == nil)
            properties[missing] = "/a;b\r\nc"
            #expect(HTTPCookie(properties: properties) == nil)
        }
    }

    @Test func `an optional text is a property of a cookie`() {
        let domain = URL(string: "https://example.org/")?.host()
        let cookie = HTTPCookie(properties: [.name: "n", .value: "v", .domain: domain as Any, .path: "/"])
        #expect(cookie?.domain == "example.org")
    }

    @Test func `joined fields Set-Cookie are split into cookies`() {
        let fields = [
            "set-cookie":
                "a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Path=/, b=2, c=3; Secure, __Host-e=5; Domain=other.com"
        ]
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
        #expect(cookies.map { "\($0.name)=\($0.value)" } == ["a=1", "b=2", "c=3"])
        #expect(cookies[0].expiresDate != nil && cookies[2].isSecure)
        #expect(HTTPCookie.cookies(withResponseHeaderFields: [:], for: url).isEmpty)
    }

    @Test func `a suggested destination has a safe name`() throws {
        let url = try #require(URL(string: "https://h/f.txt"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:])
        )
        let destination = DownloadRequest.suggestedDownloadDestination(
            for: .cachesDirectory,
            options: .removePreviousFile
        )
        let (place, options) = destination(URL(filePath: "/tmp/x"), response)
        #expect(place.lastPathComponent == "f.txt" && options == .removePreviousFile)
    }

    @Test func `an offline retrier has a short name`() {
        let retrier: any RequestInterceptor = .offlineRetrier(maximumWait: .seconds(-1))
        #expect(retrier is OfflineRetrier)
        let request = Session(startRequestsImmediately: false)
            .request("https://example.org/", interceptor: .offlineRetrier())
        #expect(request.interceptor is OfflineRetrier)
    }

    @Test func `encoders, serializers and preprocessors have short names`() throws {
        let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["A": "b"])
        #expect(head?.allHeaderFields["A"] as? String == "b" && head?.value(forHTTPHeaderField: "a") == "b")
        let data = Data(")]}',\n7".utf8)
        func read<S: ResponseSerializer>(_ serializer: S) throws -> S.SerializedObject {
            try serializer.serialize(request: nil, response: head, data: data, error: nil)
        }
        #expect(try read(.data(dataPreprocessor: .googleXSSI)) == Data("7".utf8))
        #expect(try read(.string(dataPreprocessor: .googleXSSI)) == "7")
        #expect(try read(.decodable(of: Int.self, dataPreprocessor: .googleXSSI)) == 7)
        #expect(try read(.string(dataPreprocessor: .passthrough)).count == 7)
        #expect(try read(.data).count == data.count && read(.string).count == 7)
        #expect(try GoogleXSSIPreprocessor().preprocess(Data("abc".utf8)) == Data("abc".utf8))
        func name<S: DownloadResponseSerializerProtocol>(_ serializer: S) -> String { "\(S.self)" }
        func memory<S: DataResponseSerializerProtocol>(_ serializer: S) -> String { "\(S.self)" }
        func encoder<E: ParameterEncoder>(_ encoder: E) -> String { "\(E.self)" }
        func stream<S: DataStreamSerializer>(_ serializer: S) -> String { "\(S.self)" }
        #expect(name(.data) == "DataResponseSerializer" && memory(.data) == name(.data))
        #expect(name(.url) == "URLResponseSerializer")
        #expect(encoder(.json()) == "JSONParameterEncoder" && encoder(.json) == encoder(.json()))
        #expect(encoder(.urlEncodedForm) == "URLEncodedFormParameterEncoder")
        #expect(encoder(.urlEncodedForm(destination: .queryString)) == encoder(.urlEncodedForm))
        #expect(stream(.passthrough) == "PassthroughStreamSerializer" && stream(.string) == "StringStreamSerializer")
        #expect(stream(.decodable(of: Int.self)) == "DecodableStreamSerializer<Int>")
    }

    @Test func `a response can be changed, and a serializer accepts empty bodies`() {
        let response = AFDataResponse<Int>(
            request: nil,
            response: nil,
            data: nil,
            metrics: nil,
            serializationDuration: 0.5,
            result: .success(2)
        )
        let thrown: DataResponse<Int, any Error> = response.tryMap { _ in throw CancellationError() }
        #expect(thrown.error is CancellationError && thrown.value == nil && thrown.serializationDuration == 0.5)
        let failed = response.tryMap { _ in throw CancellationError() }.mapError { _ in AFError.explicitlyCancelled }
        #expect(failed.error?.isExplicitlyCancelledError == true)
        #expect(failed.tryMapError { _ -> AFError in throw CancellationError() }.error is CancellationError)
        #expect(failed.tryMapError { $0 }.error is AFError && response.tryMapError { $0 }.value == 2)
        let serializer = DataResponseSerializer()
        #expect(serializer.requestAllowsEmptyResponseData(nil) == nil)
        #expect(serializer.requestAllowsEmptyResponseData(URLRequest(url: url)) == false)
        let head = HTTPURLResponse(url: url, statusCode: 204, httpVersion: nil, headerFields: nil)
        #expect(serializer.responseAllowsEmptyResponseData(head) == true)
    }

    @Test func `overloads of a request are selected by its parameters`() throws {
        let session = Session(startRequestsImmediately: false)
        let address = "https://example.org/"
        let loose: Parameters = ["a": 1]
        let fields = ["B": "c"]
        let requests = [
            session.request(address), session.request(address, parameters: nil, headers: nil),
            session.request(address, encoding: JSONEncoding.default), session.request(address, headers: fields),
            session.request(address, headers: [.accept("d")]), session.request(address) { $0.timeoutInterval = 5 },
            session.request(address, parameters: loose), session.request(address, parameters: ["a": 1]),
            session.request(address, parameters: ["a": 1, "b": "c"]),
            session.request(address, parameters: ["a": 1], encoder: .urlEncodedForm),
            session.request(address, parameters: ["a": 1, "b": "c"], encoding: .urlEncoding, headers: ["B": "c"]),
        ]
        let queries = requests.map { $0.request?.url?.query() ?? "-" }
        #expect(queries == ["-", "-", "-", "-", "-", "-"] + ["a=1", "a=1", "a=1&b=c", "a=1", "a=1&b=c"])
        let downloads = [
            session.download(address), session.download(address, parameters: loose),
            session.download(address, parameters: ["a": 1]),
        ]
        #expect(downloads.map { $0.request?.url?.query() ?? "-" } == ["-", "a=1", "a=1"])
        let streams = [session.streamRequest(address), session.streamRequest(address, parameters: ["a": 1])]
        #expect(streams.map { $0.request?.url?.query() ?? "-" } == ["-", "a=1"])
    }
}

/// Closures and sequences of a request's events, against a server.
struct RequestHandlerTests {
    private func withServer(_ reply: ScriptedReply, _ body: (_ url: String) async throws -> Void) async throws {
        let server = try ScriptedServer { _ in reply }
        defer { server.stop() }
        try await body(server.url("/"))
    }

    private let reply = ScriptedReply.status(200, headers: [("X-Own", "1")], body: Array("x".utf8))

    @Test func `closures receive the created request, the head of the answer and the curl command`() async throws {
        try await withServer(reply) { url in
            let seen = Locked<[String]>([])
            let adding = Adapter { request, _, completion in
                var request = request
                request.headers.add(name: "Own", value: "2")
                completion(.success(request))
            }
            let request = Session(headers: [], startRequestsImmediately: false, interceptor: adding).request(url)
            request.onURLRequestCreation { new in seen.withLock { $0.append("request \(new.headers["Own"] ?? "-")") } }
                .onHTTPResponse { head in seen.withLock { $0.append("head \(head.headers["X-Own"] ?? "-")") } }
            let text = try await request.serializingString().value
            #expect(text == "x")
            await withCheckedContinuation { (main: CheckedContinuation<Void, Never>) in
                DispatchQueue.main.async { main.resume() }
            }
            #expect(seen.withLock { $0 } == ["request -", "request 2", "head 1"])
            let command = await withCheckedContinuation { continuation in
                request.cURLDescription { continuation.resume(returning: $0) }
            }
            let parts = ["$ curl -v", "-X GET", "-H \"Own: 2\"", "\"\(url)\""]
            #expect(command == parts.joined(separator: " \\\n\t"))
            let refusing = Session().request(url).onHTTPResponse { _, decide in decide(.cancel) }
            #expect(await refusing.serializingString().response.error?.isExplicitlyCancelledError == true)
            let allowing = Session().request(url).onHTTPResponse { _, decide in decide(.allow) }
            let allowed = try await allowing.serializingString().value
            #expect(allowed == "x")
        }
    }

    private func all<Element: Sendable>(_ stream: StreamOf<Element>) async -> [Element] {
        await stream.reduce(into: []) { $0.append($1) }
    }

    @Test func `asynchronous sequences contain the events of a request until its result`() async throws {
        try await withServer(reply) { url in
            let request = Session().request(url).adapt(
                using: Adapter { request, _, completion in
                    var request = request
                    request.headers["Own"] = "2"
                    completion(.success(request))
                }
            )
            async let heads = all(request.httpResponses())
            async let requests = all(request.urlRequests())
            async let tasks = all(request.urlSessionTasks())
            async let commands = all(request.cURLDescriptions())
            let text = try await request.serializingString().value
            #expect(text == "x")
            #expect(await heads.map { $0.headers["X-Own"] } == ["1"])
            #expect(await requests.last?.headers["Own"] == "2")
            #expect(await tasks.count == 1)
            #expect(await commands.last?.contains(#"-H "Own: 2""#) == true)
            // After the end each sequence has the last element.
            #expect(await all(request.httpResponses()).count == 1)
            #expect(await all(request.urlSessionTasks()).first?.state == .completed)
            let tasked = await withCheckedContinuation { continuation in
                request.onURLSessionTaskCreation { continuation.resume(returning: $0) }
            }
            #expect(tasked.currentRequest?.headers["Own"] == "2")
        }
    }

    @Test func `redirect handlers have short names`() async throws {
        let server = try ScriptedServer { request in
            request.target == "/a"
                ? .status(302, headers: [("Location", "/b")], body: Array("moved".utf8))
                : .status(200, body: Array(request.target.utf8))
        }
        defer { server.stop() }
        let session = Session()
        let url = server.url("/a")
        #expect(try await session.request(url).redirect(using: .follow).serializingString().value == "/b")
        let kept = await session.request(url).redirect(using: .doNotFollow).serializingString().response
        #expect(kept.response?.statusCode == 302 && kept.value == "moved")
        let changed = session.request(url).redirect(using: .modify { _, request, _ in request })
        #expect(try await changed.serializingString().value == "/b" && changed.allMetrics.count == 1)
        #expect(changed.task?.response?.statusCode == 200 && changed.firstMetrics?.redirectCount == 1)
    }

    @Test func `a cancelled download has no resume data without a part`() async throws {
        try await withServer(.silence) { url in
            let download = Session().download(url)
            let data = await withCheckedContinuation { continuation in
                download.cancel(byProducingResumeData: { continuation.resume(returning: $0) })
            }
            #expect(data == nil && download.isCancelled && download.underlyingQueue.label == DispatchQueue.main.label)
        }
    }
}
