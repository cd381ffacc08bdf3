import NIOHTTP1
import ServerTrustNIO
import Testing

/// Valid and malformed responses, received whole and byte by byte.
@Suite struct ResponseTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var method = HTTPMethod.GET
        let answer: String
        var ending = Reply.Ending.close
        var expected: Result<String, TrustedHTTPFailure>

        init(
            _ name: String,
            _ answer: String,
            then ending: Reply.Ending = .close,
            method: HTTPMethod = .GET,
            is expected: String
        ) {
            testDescription = name
            (self.answer, self.ending, self.method, self.expected) = (answer, ending, method, .success(expected))
        }

        init(_ name: String, _ answer: String, then ending: Reply.Ending, fails failure: TrustedHTTPFailure) {
            testDescription = name
            (self.answer, self.ending, self.expected) = (answer, ending, .failure(failure))
        }
    }

    private static func malformed(_ name: String, _ answer: String, then ending: Reply.Ending = .stay) -> Case {
        Case(name, answer, then: ending, fails: .malformedResponse(""))
    }

    private static func closed(_ name: String, _ answer: String, _ stage: TrustedHTTPStage) -> Case {
        Case(name, answer, then: .close, fails: .connectionClosed(stage))
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"

    static let good = [
        Case("a length", ok + "Content-Length: 2\r\n\r\nhi", then: .stay, is: "200 hi"),
        Case("more bytes than the length", ok + "Content-Length: 2\r\n\r\nhiHTTP/1.1 500 No\r\n\r\n", is: "200 hi"),
        Case("an empty body", ok + "Content-Length: 0\r\n\r\n", then: .stay, is: "200 "),
        Case("the same length twice", ok + "Content-Length: 2\r\nX: y\r\n\r\nhi", then: .stay, is: "200 hi"),
        Case(
            "chunks",
            ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n",
            then: .stay,
            is: "200 hi"
        ),
        Case(
            "chunks with extensions and trailers",
            ok + "Transfer-Encoding: Chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\nX: y\r\n\r\n",
            then: .stay,
            is: "200 hi"
        ),
        Case("until the end of the connection", ok + "\r\nhi", is: "200 hi"),
        Case("close is announced", ok + "Connection: close\r\n\r\nhi", is: "200 hi"),
        Case("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhi", is: "200 hi"),
        Case("no reason", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", then: .stay, is: "200 hi"),
        Case("HEAD", ok + "Content-Length: 99999999\r\n\r\n", then: .stay, method: .HEAD, is: "200 "),
        Case("HEAD, chunked", ok + "Transfer-Encoding: chunked\r\n\r\n", then: .stay, method: .HEAD, is: "200 "),
        Case("204", "HTTP/1.1 204 No\r\nContent-Length: 9\r\n\r\n", then: .stay, is: "204 "),
        Case("304", "HTTP/1.1 304 Not\r\nContent-Length: 9\r\n\r\n", then: .stay, is: "304 "),
        Case("404", "HTTP/1.1 404 Not\r\nContent-Length: 2\r\n\r\nno", then: .stay, is: "404 no"),
        Case("a status nobody knows", "HTTP/1.1 799 What\r\nContent-Length: 0\r\n\r\n", then: .stay, is: "799 "),
        Case("100", "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", then: .stay, is: "200 hi"),
        Case(
            "sixteen times 103",
            String(repeating: "HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\n", count: 16) + ok
                + "Content-Length: 2\r\n\r\nhi",
            then: .stay,
            is: "200 hi"
        ),
        Case("a redirect", "HTTP/1.1 302 There\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", then: .stay, is: "302 "),
    ]

    static let bad = [
        closed("nothing", "", .head),
        closed("half a head", "HTTP/1.1 200 OK\r\nContent-Le", .head),
        closed("only 100", "HTTP/1.1 100 Continue\r\n\r\n", .head),
        closed("fewer bytes than the length", ok + "Content-Length: 3\r\n\r\nhi", .body),
        closed("half a chunk", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhi", .body),
        closed("no last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", .body),
        malformed("garbage", "This is no answer.\r\n\r\n"),
        malformed("zeros", "\0\0\0\0\0\0\0\0"),
        malformed("another protocol", "SSH-2.0-OpenSSH_9.2\r\n"),
        malformed("HTTP/2", "HTTP/2.0 200 OK\r\n\r\n"),
        malformed("a status of letters", "HTTP/1.1 abc OK\r\n\r\n"),
        malformed("a status of one digit", "HTTP/1.1 009 OK\r\n\r\n"),
        malformed("a blank in a name", ok + "A b: c\r\n\r\n"),
        malformed("no colon", ok + "Ab\r\n\r\n"),
        malformed("a length of letters", ok + "Content-Length: abc\r\n\r\n"),
        malformed("a negative length", ok + "Content-Length: -1\r\n\r\n"),
        malformed("two lengths", ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi"),
        malformed("a length that no number holds", ok + "Content-Length: 99999999999999999999\r\n\r\n"),
        Case(
            "a length beyond Int",
            ok + "Content-Length: 9999999999999999999\r\n\r\n",
            then: .stay,
            fails: .bodyTooLarge(limit: 1 << 20)
        ),
        malformed(
            "length and chunks",
            ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
        ),
        malformed("another coding", ok + "Transfer-Encoding: gzip\r\n\r\nhi", then: .close),
        malformed("codings", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", then: .close),
        malformed("a chunk size of letters", ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),
        malformed("a chunk larger than said", ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nhi\r\n0\r\n\r\n"),
        malformed("101", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"),
        malformed("seventeen times 103", String(repeating: "HTTP/1.1 103 Early\r\n\r\n", count: 17)),
        malformed("100 for ever", "HTTP/1.1 100 Continue\r\n\r\n", then: .endless),
    ]

    private static func outcome(_ answer: Case, _ reply: Reply) async throws -> Result<String, TrustedHTTPFailure> {
        try await withServer(reply) { server in
            do {
                let request = try TrustedHTTPRequest(server.url(), method: answer.method)
                let response = try await HTTPWorld.client().execute(request)
                await server.waitUntilClosed(1)
                return .success("\(response.status.code) \(response.text)")
            } catch let error as TrustedHTTPFailure {
                await server.waitUntilClosed(1)
                // The message of the parser is not under test.
                if case .malformedResponse(let text) = error {
                    #expect(!text.isEmpty)
                    return .failure(.malformedResponse(""))
                }
                return .failure(error)
            }
        }
    }

    @Test(arguments: good + bad)
    func `each response has the expected result`(_ answer: Case) async throws {
        #expect(try await Self.outcome(answer, Reply(answer.answer, then: answer.ending)) == answer.expected)
    }

    @Test(arguments: good + bad)
    func `a response received byte by byte has the same result`(_ answer: Case) async throws {
        guard answer.ending != .endless else { return }
        #expect(try await Self.outcome(answer, .byteByByte(answer.answer, then: answer.ending)) == answer.expected)
    }

    @Test func `header fields keep their order, letter case and repetitions`() async throws {
        let reply = Reply("HTTP/1.1 200 Fine\r\nB: 1\r\na: 2\r\nb: 3\r\nContent-Length: 0\r\n\r\n")
        try await withServer(reply) { server in
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url()))
            #expect(response.status.reasonPhrase == "OK" || response.status.reasonPhrase == "Fine")
            #expect(response.headers.map(\.name) == ["B", "a", "b", "Content-Length"])
            #expect(response.headers["B"] == ["1", "3"])
        }
    }

    @Test(arguments: [
        "Content-Length: 9\r\n\r\nhi", "Content-Length: 99999999\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nx",
    ])
    func `a response ends after its head if no body is needed`(_ rest: String) async throws {
        let reply = Reply("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 202 Accepted\r\n\(rest)")
        try await withServer(reply) { server in
            var settings = TrustedHTTPSettings()
            settings.sufficientBodyBytes = 0
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url()), settings: settings)
            #expect(response.status == .accepted)
            #expect(response.body.isEmpty)
        }
    }

    @Test(arguments: ["HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi"])
    func `a reset connection is not reported as closed`(_ answer: String) async throws {
        // The reset may overtake the data before it. Then the response has not started.
        try await withServer(Reply(answer, then: .reset)) { server in
            switch try await HTTPWorld.failure(of: server.url()) {
            case .connectionFailed(let stage, let cause):
                #expect(stage == .head || stage == .body)
                #expect(cause.contains("reset"))
            case let other: Issue.record("\(other)")
            }
        }
    }
}
