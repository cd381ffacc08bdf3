import Dispatch
import FoundationEssentials
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

@testable import ReachabilityRequests

/// Sessions with default settings, which behave as in Alamofire.
struct DefaultSessionTests {
    /// A session that retries nothing by default, and does not query the kernel for reachability.
    private func session(
        _ policy: RetryPolicy = .singleAttempt,
        interceptor: (any RequestInterceptor)? = nil,
        startRequestsImmediately: Bool = true
    ) throws -> Session {
        let limits = try RetryLimits(rate: 10_000, spread: .zero, budget: RetryBudget(retryCost: 0))
        let coordinator = RetryCoordinator(
            limits: limits,
            reachability: NetlinkReachabilityProvider { _ in nil },
            random: SeededGenerator(seed: 1)
        )
        return Session(
            settings: RetrySettings(policy: policy, options: RequestRetryOptions(coordinator: coordinator)),
            startRequestsImmediately: startRequestsImmediately,
            interceptor: interceptor
        )
    }

    /// A server whose port refuses connections.
    private let refusing: ScriptedServer

    init() throws { refusing = try ScriptedServer(backlog: .closed) { _ in .silence } }

    @Test(arguments: [HTTPMethod.get, .post]) func `a refused connection is reported immediately as refused`(
        method: HTTPMethod
    ) async throws {
        let response = try await session().request(refusing.url(), method: method).serializingData().response
        let error = try #require(response.error)
        #expect(error.isSessionTaskError && error.connectionFailure == .refused && error.attempts.count == 1)
        #expect(error.description.contains("Connection refused"), "\(error)")
        let other = try await session(.standard).request(refusing.url()).serializingData().response
        #expect(other.error?.attempts.count == 3 && other.error?.connectionFailure == .refused)
    }

    @Test func `an unknown host name is reported immediately`() async throws {
        // The tests run without a network, so the name service fails immediately.
        let url = "http://nowhere.invalid/"
        for (policy, attempts) in [(RetryPolicy.singleAttempt, 1), (.standard, 3)] {
            let error = try await session(policy).request(url).serializingData().response.error
            #expect(error?.connectionFailure == .nameNotResolved && error?.attempts.count == attempts)
            #expect(error.map { "\($0)".contains("cannot resolve") } == true, "\(String(describing: error))")
        }
    }

    @Test func `a failed TLS handshake is reported immediately and is not retried`() async throws {
        let server = try ScriptedServer.perConnection { connection in
            _ = connection.receive()
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.waitForEnd()
        }
        defer { server.stop() }
        let url = server.url().replacing("http://", with: "https://")
        for policy in [RetryPolicy.singleAttempt, .standard] {
            let error = try await session(policy).request(url).serializingData().response.error
            #expect(error?.isSessionTaskError == true && error?.attempts.count == 1)
            #expect(error.map { "\($0)".contains("handshake") } == true, "\(String(describing: error))")
        }
    }

    @Test func `a status of 503 is an answer, and is not retried`() async throws {
        try await withServer({ _ in Reply("x", status: 503) }) { lab in
            #expect(try await session().request(lab.server.url()).serializingString().value == "x")
            let error = try await session().request(lab.server.url()).validate().serializingData().response.error
            #expect(error?.responseCode == 503 && lab.server.seen.count == 2)
        }
    }

    @Test func `a request without a handler is sent`() async throws {
        try await withServer({ _ in Reply() }) { lab in
            try session().request(lab.server.url(), method: .post)
            for await _ in lab.server.arrivals { break }
            #expect(lab.server.seen.map(\.method) == ["POST"])
        }
    }

    @Test func `a download without a handler is sent`() async throws {
        let folder = "\(FileManager.default.temporaryDirectory.path)/download-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withServer({ _ in Reply("x") }) { lab in
            try session().download(lab.server.url(), to: "\(folder)/file")
            #expect(try await eventually { FileManager.default.fileExists(atPath: "\(folder)/file") })
        }
    }

    @Test func `a session that does not start requests sends them after resume or when a task waits`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let request = try session(startRequestsImmediately: false).request(lab.server.url())
            let value = Task {
                await withCheckedContinuation { continuation in
                    request.responseString { continuation.resume(returning: $0.value) }
                }
            }
            for _ in 0..<100 { await Task.yield() }
            #expect(request.state == .initialized && lab.server.seen.isEmpty)
            request.resume()
            #expect(await value.value == "x")
            // A task that waits also sends the request.
            let other = try session(startRequestsImmediately: false).request(lab.server.url())
            #expect(try await other.serializingString().value == "x")
        }
    }

    @Test func `handlers of many requests run one after the other on the main queue`() async throws {
        let (inside, calls) = (Locked(0), AsyncStream.makeStream(of: Int.self))
        try await withServer({ _ in Reply("x") }) { lab in
            for _ in 0..<40 {
                try session().request(lab.server.url()).responseString { _ in
                    dispatchPrecondition(condition: .onQueue(.main))
                    let others = inside.withLock { inside in
                        inside += 1
                        return inside - 1
                    }
                    for _ in 0..<1000 where inside.withLock({ $0 > 1 }) { break }
                    inside.withLock { $0 -= 1 }
                    calls.continuation.yield(others)
                }
            }
            var count = 0
            for await others in calls.stream {
                #expect(others == 0)
                count += 1
                if count == 40 { break }
            }
        }
    }

    @Test func `a validation that is added after a handler is applied`() async throws {
        let gate = DispatchSemaphore(value: 0)
        try await withServer({ _ in
            gate.wait()
            return Reply("x", status: 404)
        }) { lab in
            let (errors, sink) = AsyncStream.makeStream(of: AFError?.self)
            let request = try session().request(lab.server.url())
            request.responseString { sink.yield($0.error) }
            for await _ in lab.server.arrivals { break }
            request.validate()
            gate.signal()
            for await error in errors {
                #expect(error?.responseCode == 404)
                break
            }
        }
    }

    @Test func `a validation that is added after the answer is applied`() async throws {
        try await withServer({ _ in Reply("x", status: 404) }) { lab in
            let request = try session().request(lab.server.url())
            #expect(try await request.serializingString().value == "x")
            let error = await #expect(throws: AFError.self) { try await request.validate().serializingString().value }
            #expect(error?.responseCode == 404 && lab.server.seen.count == 1)
        }
    }

    @Test func `retriers receive every failure as an AFError`() async throws {
        let errors = Locked<[any Error]>([])
        let retrier = Retrier { request, _, error, completion in
            errors.withLock { $0.append(error) }
            completion(request.retryCount == 0 ? .retry : .doNotRetry)
        }
        let interceptor = Interceptor(retriers: [retrier])
        var cut = Reply("x")
        (cut.length, cut.closes) = (2, true)
        try await withServer({ [cut] in $0.path == "/cut" ? cut : Reply("x", status: 500) }) { lab in
            for policy in [RetryPolicy.singleAttempt, try RetryPolicy(attempts: 1)] {
                let session = try session(policy, interceptor: interceptor)
                errors.withLock { $0 = [] }
                _ = try? await session.request(refusing.url()).serializingData().value
                _ = try? await session.request(lab.server.url("/cut")).serializingData().value
                _ = try? await session.request(lab.server.url("/500")).validate().serializingData().value
                let found = errors.withLock { $0 }.map { $0 as? AFError }
                // After the last attempt, the serializer calls the retrier again.
                #expect(found.count == 9 && found.allSatisfy { $0 != nil })
                #expect(found.first??.connectionFailure == .refused)
                #expect(found[3]?.failureStage == .mayHaveBeenProcessed)
                #expect(found[6]?.responseCode == 500)
            }
        }
    }

    @Test func `User-Agent and Accept-Language are sent, unless the session has its own`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            _ = try await session().request(lab.server.url()).serializingString().value
            let fields = try #require(lab.server.seen.last?.fields)
            #expect(fields["user-agent"] == HTTPHeader.defaultUserAgent.value)
            #expect(fields["user-agent"]?.contains("(Linux ") == true)
            #expect(fields["accept-language"] == HTTPHeader.defaultAcceptLanguage.value)
            _ = try await session().request(lab.server.url(), headers: [.userAgent("own")]).serializingString().value
            #expect(lab.server.seen.last?.fields["user-agent"] == "own")
        }
    }

    @Test(
        arguments: [
            ([:], "en;q=1.0"), (["LANG": "C.UTF-8"], "en;q=1.0"), (["LANG": "POSIX"], "en;q=1.0"),
            (["LANG": "de_DE.UTF-8@euro"], "de-DE;q=1.0"), (["LANG": "de_DE", "LC_ALL": "fr_CH.UTF-8"], "fr-CH;q=1.0"),
            (["LANGUAGE": "de_DE:en", "LANG": "fr_FR"], "de-DE;q=1.0, en;q=0.9, fr-FR;q=0.8"),
            (["LANGUAGE": "aa:bb:cc:dd:ee:ff:gg"], "aa;q=1.0, bb;q=0.9, cc;q=0.8, dd;q=0.7, ee;q=0.6, ff;q=0.5"),
            (["LANG": "de\r\nX: y"], "en;q=1.0"), (["LANG": "d\u{301}e"], "en;q=1.0"), (["LANG": "::"], "en;q=1.0"),
            (["LANGUAGE": "de:de:de"], "de;q=1.0"), (["LANG": String(repeating: "de-", count: 100)], "en;q=1.0"),
        ] as [([String: String], String)]
    )
    func `Accept-Language follows from the environment variables`(variables: [String: String], value: String) {
        #expect(HTTPHeader.acceptedLanguages { variables[$0] } == value)
    }

    @Test func `the localized description of an error is its text`() throws {
        let errors: [any LocalizedError] = [
            AFError.explicitlyCancelled, AuthenticationError.missingCredential, StreamTaken(),
            StatusFailure(status: 503), InvalidRequest.method("x"), RetryPolicyError.neverEnds,
        ]
        for error in errors { #expect(error.errorDescription == "\(error)" && error.errorDescription != "") }
        #expect(AFError.explicitlyCancelled.localizedDescription == "the request was cancelled")
    }

    @Test func `print and debugPrint show the same parts of a request and a response as in Alamofire`() async throws {
        try await withServer({ _ in
            Reply("{\n}\u{1b}", type: "application/json", fields: ["Set-Cookie": "hidden"])
        }) { lab in
            let url = lab.server.url("/a?b=c")
            let request = try session(startRequestsImmediately: false).request(
                URLRequest(
                    text: url,
                    method: .post,
                    headers: [.authorization("hidden"), .contentType("text/plain")],
                    body: Data("one\ntwo".utf8)
                )
            )
            #expect("\(request)" == "POST \(url)")
            let response = await request.validate().serializingString().response
            #expect("\(request)" == "POST \(url) (200)")
            #expect(String(reflecting: request).hasPrefix("$ curl -v \\\n\t-X POST "))
            #expect("\(response)" == "\(response.result)" && "\(response)".hasPrefix("success("))
            let text = String(reflecting: response)
            #expect(
                text.hasPrefix(
                    """
                    [Request]: POST \(url)
                        [Headers]:
                            Authorization: ***
                            Content-Type: text/plain
                        [Body]:
                            one
                            two
                    [Response]:
                        [Status Code]: 200
                        [Headers]:

                    """
                )
            )
            #expect(text.contains("    [Body]:\n        {\n        }\\u{1b}\n[Network Duration]: "))
            #expect(text.contains("\n[Serialization Duration]: ") && !text.contains("hidden"))
            #expect(text.contains("\n[Result]: success("))
            let failed = await request.serializingResponse(using: DecodableResponseSerializer<Int>()).response
            #expect("\(failed)".hasPrefix("failure("))
        }
        let unanswered = try await session().request(refusing.url()).serializingString().response
        #expect(String(reflecting: unanswered).contains("\n[Response]: None\n"))
    }
}
