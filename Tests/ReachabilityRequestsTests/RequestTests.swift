import Dispatch
import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// The common members of requests, against a server.
struct RequestTests {
    @Test func `a request has its URL requests, its response, its metrics and its progress`() async throws {
        try await withServer({ _ in Reply("x", fields: ["X-Own": "1"]) }) { lab in
            let request = try lab.session(startRequestsImmediately: false).request(lab.server.url("/a"), method: .put)
            #expect(request.isInitialized && !request.isResumed && request.response == nil && request.metrics == nil)
            #expect(request.request?.url?.path == "/a" && request.firstRequest == request.lastRequest)
            #expect(request.description == "PUT \(lab.server.url("/a"))" && request.error == nil)
            let response = await request.serializingString().response
            #expect(response.value == "x" && request.isFinished && request.data == Data("x".utf8))
            #expect(request.response?.headers["x-own"] == "1" && request.retryCount == 0)
            #expect(request.performedRequests.map(\.method) == [.put] && request.metrics != nil)
            #expect(request.description == "PUT \(lab.server.url("/a")) (200)")
            #expect(request.cURLDescription() == "$ curl -v \\\n\t-X PUT \\\n\t\"\(lab.server.url("/a"))\"")
            #expect(request.downloadProgress.isFinished && request.downloadProgress.totalUnitCount == 1)
            let other = try lab.session(startRequestsImmediately: false).request(lab.server.url("/a"))
            #expect(request.id != other.id && request != other && Set([request, request, other]).count == 2)
        }
    }

    @Test func `an empty body is nil, also for validations, and has no content type`() async throws {
        try await withServer({ _ in Reply(status: 200) }) { lab in
            let request = try lab.session().request(lab.server.url())
                .validate(contentType: ["a/b"])
                .validate { _, _, data in data == nil ? .success(()) : .failure(StreamTaken()) }
            let response = await request.serializingData(emptyResponseCodes: [200]).response
            #expect(response.data == nil && request.data == nil && response.value == Data())
            let late = await request.validate(contentType: ["c/d"]).serializingData(emptyResponseCodes: [200]).response
            #expect(late.error == nil)
        }
    }

    @Test func `identities of requests are unique`() {
        let ids = (0..<10_000).map { _ in RequestIdentity.next() }
        #expect(Set(ids).count == ids.count)
    }

    @Test func `a suspended request is not sent until resume`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let request = try lab.session(startRequestsImmediately: false).request(lab.server.url()).suspend()
            #expect(request.isSuspended)
            async let value = request.serializingString().value
            for _ in 0..<100 { await Task.yield() }
            #expect(lab.server.seen.isEmpty && request.isSuspended)
            request.resume()
            #expect(try await value == "x" && request.isFinished)
            // A request that has ended does not change.
            #expect(request.suspend().isFinished)
            let stopped = try lab.session().request(lab.server.url()).suspend()
            stopped.cancel()
            let response = await stopped.serializingString().response
            #expect(response.error?.isExplicitlyCancelledError == true && stopped.isCancelled)
        }
    }

    @Test func `a suspended stream waits for resume`() async throws {
        try await withServer({ _ in Reply(String(repeating: "x", count: 4_000_000)) }) { lab in
            let request = try lab.session().streamRequest(lab.server.url())
            var count = 0
            for try await piece in request {
                if count == 0 {
                    request.suspend()
                    #expect(request.isSuspended)
                    Task { request.resume() }
                }
                count += piece.count
            }
            #expect(count == 4_000_000 && request.downloadProgress.completedUnitCount == 4_000_000)
        }
    }

    @Test(
        arguments: [
            ("Basic realm=\"a\"", "Basic dXNlcjpwYXNz", 2), ("basic", "Basic dXNlcjpwYXNz", 2),
            ("Bearer realm=\"b\", Basic realm=\"a, b\"", "Basic dXNlcjpwYXNz", 2), ("Bearer realm=\"basic\"", nil, 1),
            ("Negotiate", nil, 1), ("", nil, 1), ("Basic", "Basic b3RoZXI6", 2),
        ] as [(String, String?, Int)]
    )
    func `a Basic challenge is answered once`(challenge: String, accepted: String?, count: Int) async throws {
        try await withServer({ seen in
            let isIn = seen.fields["authorization"] == accepted && accepted != nil
            return Reply("in", status: isIn ? 200 : 401, fields: ["WWW-Authenticate": challenge])
        }) { lab in
            for method in [HTTPMethod.get, .post] {
                let before = lab.server.seen.count
                let request = try lab.session().request(lab.server.url(), method: method)
                    .authenticate(username: "user", password: "pass").validate()
                let response = await request.serializingString().response
                let isIn = accepted == "Basic dXNlcjpwYXNz"
                #expect(response.value == (isIn ? "in" : nil) && response.error?.responseCode == (isIn ? nil : 401))
                let sent = lab.server.seen.dropFirst(before).map { $0.fields["authorization"] }
                #expect(sent == [nil, "Basic dXNlcjpwYXNz"].prefix(count).map { $0 })
                #expect(request.retryCount == 0 && request.credential?.user == "user")
            }
        }
    }

    @Test
    func `a Digest challenge is answered for the method and target of the request, and again if its nonce is stale`()
        async throws
    {
        try await withServer({ seen in
            let answer = seen.fields["authorization"] ?? ""
            let isIn = answer.contains("nonce=\"second\"") && answer.contains("uri=\"/a%20b?c=d\"")
            let challenge =
                "Digest realm=\"r\", qop=\"auth\", algorithm=SHA-256, "
                + (answer.isEmpty ? "nonce=\"first\"" : "nonce=\"second\", stale=true")
            return Reply("in", status: isIn ? 200 : 401, fields: ["WWW-Authenticate": challenge])
        }) { lab in
            let request = try lab.session().request(lab.server.url("/a%20b?c=d"), method: .post)
                .authenticate(username: "user", password: "pass").validate()
            #expect(try await request.serializingString().value == "in")
            let answers = lab.server.seen.map { $0.fields["authorization"] ?? "" }
            #expect(answers.map { $0.contains("nc=00000001") } == [false, true, true], "\(answers)")
            #expect(request.retryCount == 0)
        }
    }

    @Test func `a credential is not printed, and is not sent to another origin`() async throws {
        let credential = URLCredential(user: "user", password: "hidden", persistence: .forSession)
        #expect(!"\(credential)".contains("hidden") && !String(reflecting: credential).contains("hidden"))
        try await withServer({ _ in Reply(status: 401, fields: ["WWW-Authenticate": "Basic"]) }) { other in
            let there = other.server.url()
            try await withServer({ _ in Reply(status: 302, fields: ["Location": there]) }) { lab in
                let request = try lab.session().request(lab.server.url()).authenticate(with: credential).validate()
                #expect(await request.serializingData().response.error?.responseCode == 401)
                #expect(other.server.seen.allSatisfy { $0.fields["authorization"] == nil })
            }
        }
    }

    @Test func `a redirect handler follows, refuses or changes redirects`() async throws {
        try await withServer({ seen in
            seen.path == "/a" ? Reply("moved", status: 302, fields: ["Location": "/b"]) : Reply(seen.path)
        }) { lab in
            let session = try lab.session()
            let url = lab.server.url("/a")
            #expect(
                try await session.request(url).redirect(using: Redirector(behavior: .follow)).serializingString().value
                    == "/b"
            )
            let refusing = Redirector(behavior: .doNotFollow)
            let kept = await session.request(url).redirect(using: refusing).serializingString().response
            #expect(kept.response?.statusCode == 302 && kept.value == "moved")
            let changing = Redirector(
                behavior: .modify { task, request, response in
                    #expect(task.originalRequest?.url?.path == "/a" && response.statusCode == 302)
                    var request = request
                    request.url = request.url?.deletingLastPathComponent().appending(path: "c")
                    request.headers.add(name: "Own", value: "1")
                    return request
                }
            )
            let changed = session.request(url).redirect(using: changing)
            #expect(try await changed.serializingString().value == "/c")
            #expect(lab.server.seen.last?.fields["own"] == "1")
            let refused = session.request(url).redirect(using: Redirector(behavior: .modify { _, _, _ in nil }))
                .validate()
            #expect(await refused.serializingString().response.error?.responseCode == 302)
        }
    }

    @Test func `the progress of an answer is reported on the specified queue`() async throws {
        try await withServer({ _ in Reply(String(repeating: "x", count: 3_000_000)) }) { lab in
            let last = Locked<Progress?>(nil)
            let queue = DispatchQueue(label: "progress")
            let request = try lab.session(startRequestsImmediately: false).request(lab.server.url())
            request.downloadProgress(queue: queue) { progress in
                dispatchPrecondition(condition: .onQueue(queue))
                last.withLock { last in
                    #expect(progress.completedUnitCount >= last?.completedUnitCount ?? 0)
                    last = progress
                }
            }
            _ = try await request.serializingData().value
            await queue.call {}
            #expect(last.withLock { $0 }?.fractionCompleted == 1 && request.downloadProgress.isFinished)
        }
    }

    @Test func `all active requests of a session can be listed and cancelled`() async throws {
        try await withServer({ _ in .silence }) { lab in
            let session = try lab.session()
            let requests = (0..<3).map { _ in session.request(lab.server.url()) }
            session.withAllRequests { #expect($0 == Set(requests)) }
            await withCheckedContinuation { continuation in
                session.cancelAllRequests { continuation.resume() }
            }
            for request in requests {
                #expect(await request.serializingData().response.error?.isExplicitlyCancelledError == true)
            }
            session.withAllRequests { #expect($0.isEmpty) }
        }
    }

    @Test func `a task without automatic cancellation does not cancel the request`() async throws {
        let gate = DispatchSemaphore(value: 0)
        try await withServer({ _ in
            gate.wait()
            return Reply("x")
        }) { lab in
            let request = try lab.session().request(lab.server.url())
            let task = Task { await request.serializingString(automaticallyCancelling: false).response }
            for await _ in lab.server.arrivals { break }
            task.cancel()
            gate.signal()
            #expect(await task.value.value == "x" && request.isFinished)
        }
    }
}

/// Requests of routers, request modifiers, configurations and serializers.
struct RouterTests {
    private struct User: Codable, Hashable, Sendable { var name: String }

    /// A router in the style of Alamofire's documentation.
    private enum Router: URLRequestConvertible {
        case create(base: String, User)
        case read(base: String, String)

        func asURLRequest() throws -> URLRequest {
            switch self {
            case .create(let base, let user):
                let request = try URLRequest(url: base.asURL().appending(path: "users"), method: .post)
                return try JSONParameterEncoder.default.encode(user, into: request)
            case .read(let base, let name):
                let request = try URLRequest(url: base.asURL().appending(path: "users/\(name)"), method: .get)
                return try URLEncodedFormParameterEncoder.default.encode(["full": true], into: request)
            }
        }
    }

    @Test func `a router creates requests, and its error is the result`() async throws {
        try await withServer({ seen in
            Reply(seen.method == "POST" ? String(decoding: seen.body, as: UTF8.self) : #"{"name":"\#(seen.path)"}"#)
        }) { lab in
            let session = try lab.session()
            let base = lab.server.url("")
            let created = session.request(Router.create(base: base, User(name: "Ada"))).validate()
            #expect(try await created.serializingDecodable(User.self).value == User(name: "Ada"))
            let read = session.request(Router.read(base: base, "ada"))
            #expect(try await read.serializingDecodable(User.self).value == User(name: "/users/ada?full=1"))
            #expect(Router.read(base: base, "x").urlRequest?.method == .get)
            #expect(Router.read(base: "", "x").urlRequest == nil)
            let bad = await session.request(Router.read(base: "", "x")).serializingData().response
            #expect(bad.error?.isInvalidURLError == true && bad.request == nil)
            #expect("\(session.request(Router.read(base: "", "x")))" == "No request created yet.")
        }
    }

    @Test func `a modifier changes the request before the parameters are encoded, and its error is the result`()
        async throws
    {
        try await withServer({ _ in Reply("x") }) { lab in
            let session = try lab.session()
            let request = session.request(lab.server.url(), parameters: ["a": "b"]) { request in
                request.timeoutInterval = 30
                request.headers["Own"] = "1"
                request.method = .post
            }
            #expect(try await request.serializingString().value == "x" && request.request?.timeoutInterval == 30)
            let seen = try #require(lab.server.seen.last)
            #expect(seen.method == "POST" && seen.fields["own"] == "1" && seen.body == Array("a=b".utf8))
            let failing = session.request(lab.server.url()) { _ in throw CancellationError() }
            let error = await failing.serializingString().response.error
            #expect(error?.isCreateURLRequestError == true && error?.underlyingError is CancellationError)
            #expect(lab.server.seen.count == 1)
        }
    }

    @Test func `serializers forward the error of a request`() {
        let head = HTTPURLResponse(text: "http://h/", statusCode: 200)
        let data = Data(")]}',\n7".utf8)
        #expect(throws: CancellationError.self) {
            try DataResponseSerializer().serialize(request: nil, response: head, data: data, error: CancellationError())
        }
        #expect(throws: AFError.self) {
            try DataResponseSerializer().serialize(request: nil, response: nil, data: nil, error: nil)
        }
        #expect(!DataResponseSerializer().emptyResponseAllowed(forRequest: nil, response: head))
    }
}

/// The members of URLRequest and HTTPURLResponse.
struct FoundationNamesTests {
    @Test func `URLRequest has the members of Foundation's type`() throws {
        let url = try #require(URL(string: "https://h/a?b=c"))
        var request = URLRequest(url: url, timeoutInterval: 5)
        #expect(request.url == url && request.method == .get && request.timeoutInterval == 5)
        #expect(URLRequest(url: url).timeoutInterval == 60 && URLRequest(url: url).timeout == nil)
        request.method = nil
        request.url = nil
        #expect(request.headers.isEmpty && request.method == .get && request.url == nil)
        #expect(request != URLRequest(url: url) && URLRequest(url: url) == URLRequest(url: url))
        #expect(try URLRequest(url: "https://h/a b", method: .post).url?.absoluteString == "https://h/a%20b")
        #expect(throws: AFError.self) { try URLRequest(url: "", method: .get) }
        var parts = URLComponents()
        parts.host = "h"
        parts.scheme = "https"
        #expect(try parts.asURL().absoluteString == "https://h" && url.asURL() == url)
    }

    @Test(
        arguments: [
            ("https://h/a/b.txt?x", [:], "b.txt"), ("https://h/", [:], "Unknown"),
            ("https://h/a", ["Content-Disposition": "attachment; filename=\"../c.zip\""], "c.zip"),
            ("https://h/a", ["Content-Disposition": "attachment; filename=\"..\""], "a"),
        ] as [(String, [String: String], String)]
    )
    func `a response suggests a safe file name`(url: String, fields: [String: String], name: String) {
        let response = HTTPURLResponse(text: url, statusCode: 200, headers: HTTPHeaders(fields))
        #expect(response.suggestedFilename == name && response.url?.absoluteString == url)
    }

    @Test func `HTTPURLResponse has the members of Foundation's type`() {
        let fields: HTTPHeaders = ["Content-Type": "text/Plain; charset=utf-8", "content-length": "7"]
        let response = HTTPURLResponse(text: "https://h/", statusCode: 404, headers: fields)
        #expect(response.mimeType == "text/plain" && response.textEncodingName == "utf-8")
        #expect(response.expectedContentLength == 7 && response.statusCode == 404)
    }
}
