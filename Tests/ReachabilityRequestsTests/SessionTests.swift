import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Requests to a loopback server.
struct SessionTests {
    private struct User: Codable, Hashable, Sendable { var name: String }

    @Test func `one request serves several serializers with one answer`() async throws {
        try await withServer({ _ in Reply(#"{"name":"Ada"}"#, type: "application/json") }) { lab in
            let request = try lab.session(startRequestsImmediately: false).request(lab.server.url()).validate()
            #expect(request.state == .initialized && lab.server.seen.isEmpty)
            #expect(try await request.serializingDecodable(User.self).value == User(name: "Ada"))
            #expect(try await request.serializingString().value == #"{"name":"Ada"}"#)
            #expect(try await request.serializingData().value.count == 14)
            #expect(request.state == .finished && lab.server.seen.count == 1)
        }
    }

    @Test func `parameters and header fields arrive at the server`() async throws {
        try await withServer({ _ in Reply("ok") }) { lab in
            let session = try lab.session(headers: [.userAgent("test"), .accept("a/b")])
            let url = lab.server.url("/search")
            _ = try await session.request(url, parameters: ["q": "a b"], headers: [.accept("c/d")]).serializingData()
                .value
            _ = try await session.request(
                url,
                method: .post,
                parameters: ["q": "a b"],
                encoder: JSONParameterEncoder.default
            ).serializingData().value
            let seen = lab.server.seen
            #expect(seen.map(\.path) == ["/search?q=a%20b", "/search"])
            #expect(seen.map { $0.fields["accept"] } == ["c/d", "a/b"])
            #expect(seen.map { $0.fields["user-agent"] } == ["test", "test"])
            #expect(seen[1].fields["content-type"] == "application/json" && seen[1].body == Array(#"{"q":"a b"}"#.utf8))
        }
    }

    @Test func `a rejected answer has its status and at most 64 KiB of the body`() async throws {
        try await withServer({ _ in Reply(String(repeating: "x", count: 200_000), status: 404, type: "text/html") }) {
            lab in
            let response = try await lab.session().request(lab.server.url()).validate().serializingString().response
            #expect(response.error?.responseCode == 404)
            #expect(response.data?.count == 65536 && response.response?.statusCode == 404)
        }
    }

    @Test func `without a validation every status is an answer, also after the last retry`() async throws {
        try await withServer({ Reply("x", status: Int($0.path.dropFirst()) ?? 0) }) { lab in
            let session = try lab.session()
            let missing = await session.request(lab.server.url("/404")).serializingString().response
            #expect(missing.value == "x" && missing.response?.statusCode == 404)
            let down = await session.request(lab.server.url("/503")).serializingString().response
            #expect(down.value == "x" && down.response?.statusCode == 503 && down.metrics?.attempts.count == 3)
            let refused = await session.request(lab.server.url("/503")).validate().serializingString().response
            #expect(refused.error?.responseCode == 503 && refused.metrics?.attempts.count == 3)
        }
    }

    @Test(arguments: [true, false])
    func `a body that is longer than the limit is an error, before it is read if its length is announced`(
        isKnown: Bool
    ) async throws {
        try await withServer({ _ in
            var reply = Reply(String(repeating: "x", count: isKnown ? 1 : 101))
            // With a content coding that is not decoded, the announced length is ignored.
            if isKnown { reply.length = 1 << 40 } else { reply.fields["Content-Encoding"] = "odd" }
            return reply
        }) { lab in
            let session = try lab.session(limits: ResponseLimits(body: 100))
            let response = await session.request(lab.server.url()).serializingData().response
            #expect(response.error?.underlyingError as? ResponseTooLong == ResponseTooLong(limit: 100))
            #expect(response.error?.isResponseSerializationError == true)
            #expect(response.metrics?.attempts.count == 1)
            let head = await session.request(lab.server.url(), method: .head).serializingData().response
            #expect(head.error == nil && head.value == Data())
        }
    }

    @Test func `redirects are followed, and the metrics contain each hop`() async throws {
        let replies = Replies([
            Reply("no", status: 503), Reply("there", status: 302, fields: ["Location": "/b"]),
            Reply("yes"),
        ])
        try await withServer({ _ in replies.next() }) { lab in
            let response = try await lab.session().request(lab.server.url("/a")).validate().serializingString().response
            #expect(response.value == "yes" && response.response?.url?.absoluteString == lab.server.url("/b"))
            #expect(
                response.metrics?.hops == [
                    .init(url: lab.server.url("/a"), statusCode: 302, attempts: 2),
                    .init(url: lab.server.url("/b"), statusCode: 200, attempts: 1),
                ]
            )
            #expect(response.metrics?.receivedBytes == 3 && response.metrics?.timeToHead != nil)
        }
    }

    @Test func `a request is repeated if its answer is interrupted`() async throws {
        var broken = Reply("ab")
        (broken.length, broken.closes) = (4, true)
        let replies = Replies([broken, Reply("abcd")])
        try await withServer({ _ in replies.next() }) { lab in
            let text = try await lab.session().request(lab.server.url()).serializingString().value
            #expect(text == "abcd")
            #expect(lab.server.seen.count == 2)
        }
    }

    @Test(arguments: ["", "GE T", "GET\r\nX: y", "G\u{e9}T"])
    func `an invalid method is an error, and no request is sent`(method: String) async throws {
        try await withServer({ _ in Reply() }) { lab in
            let request = try lab.session().request(lab.server.url(), method: HTTPMethod(rawValue: method))
            let error = await request.serializingData().response.error
            #expect(
                error?.underlyingError as? InvalidRequest == .method(method) && error?.isCreateURLRequestError == true
            )
            #expect(lab.server.seen.isEmpty)
        }
    }

    @Test func `an error of the parameter encoder is the result, and no request is sent`() async throws {
        struct Bad: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws { throw CancellationError() }
        }
        try await withServer({ _ in Reply() }) { lab in
            let request = try lab.session().request(
                lab.server.url(),
                method: .post,
                parameters: Bad(),
                encoder: JSONParameterEncoder.default
            )
            let error = await request.serializingData().response.error
            #expect(error?.description.hasPrefix("cannot encode the parameters: ") == true)
            #expect(lab.server.seen.isEmpty)
        }
    }

    @Test func `a validation closure is called once, with the complete body`() async throws {
        let count = Locked(0)
        try await withServer({ _ in Reply("body") }) { lab in
            let request = try lab.session().request(lab.server.url()).validate { _, _, data in
                count.withLock { $0 += 1 }
                return data == Data("body".utf8) ? .failure(CancellationError()) : .success(())
            }
            let response = await request.serializingData().response
            #expect(response.error?.isResponseValidationError == true)
            #expect(count.withLock { $0 } == 1)
        }
    }
}
