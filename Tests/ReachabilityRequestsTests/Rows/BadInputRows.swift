import FoundationEssentials
import Testing

@testable import ReachabilityRequests

/// Invalid input of servers and callers. Each row is a typed error, and no invalid request is sent.
struct BadInputRows {
    @Test(arguments: [
        " ", "http", "http:", "http:/", "://h", "//h/", "h/", "?a=b", "#", "mailto:a@b", "file:///etc/passwd",
        "data:,x",
        "ws://h/", "javascript:1", "http://:80/", "http://u@/", "http://h:port/", "http://h:65536/", "http://h:-1/",
        "http://[::1/", "http://::1]/", "http://h /", "http://h\r\nX: y/", "http://h/\r\nX: y", "http://h/a b",
        "http://h/\u{0}", "http://h/\t", "\u{feff}http://h/", "http://h/é", "http://é/",
    ])
    func `an invalid URL is an error of the URL or of the connection`(url: String) async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let request = try lab.session(deadline: .milliseconds(300)).request(url)
            let error = await request.serializingString().response.error
            // A host name that does not exist is an error of the connection.
            #expect(
                error?.isInvalidURLError == true || error?.isSessionTaskError == true,
                "\(String(describing: error))"
            )
        }
    }

    @Test(arguments: [
        "/a b", "/a\r\nEvil: 1", "/a HTTP/1.1\r\nEvil: 1\r\n\r\nGET /b", "/\u{0}", "/\t", "/é", "/?a b", "/#a b",
    ])
    func `no path adds a header field or a request`(path: String) async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let request = try lab.session().request(lab.server.url(path))
            let error = await request.serializingString().response.error
            #expect(lab.server.seen.count == (error == nil ? 1 : 0))
            for seen in lab.server.seen {
                #expect(seen.path.utf8.allSatisfy { (0x21...0x7e).contains($0) } && seen.fields["evil"] == nil)
            }
        }
    }

    @Test(arguments: [
        ("a\r\nEvil", "1"), ("a b", "1"), ("", "1"), ("a:", "1"), ("ä", "1"), ("a", "1\r\nEvil: 2"), ("a", "1\n"),
        ("a", "\u{0}"), ("a", "1\r"), ("a\u{0}", "1"), ("a(", "1"),
    ])
    func `an invalid header field of a request or of an adapter is an error`(name: String, value: String) async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let session = try lab.session()
            let request = session.request(lab.server.url(), headers: [HTTPHeader(name: name, value: value)])
            let adding = Adapter { request, _, completion in
                var request = request
                request.headers.add(name: name, value: value)
                completion(.success(request))
            }
            for request in [request, session.request(lab.server.url(), interceptor: adding)] {
                let error = await request.serializingData().response.error
                #expect(error?.underlyingError as? InvalidRequest == .header(name: name))
            }
            #expect(lab.server.seen.isEmpty)
        }
    }

    @Test(arguments: [
        "utf-7", "x-user-defined", "utf-8\u{0}", "", "\"", "\"utf-8", "💩", "utf-16;utf-8",
        String(repeating: "x", count: 10_000),
    ])
    func `an unknown character set is an error or is ignored`(charset: String) {
        let head = HTTPURLResponse(
            text: "",
            statusCode: 200,
            headers: ["Content-Type": "text/plain; charset=\(charset)"]
        )
        let known = head.textEncodingName
        do {
            let text = try StringResponseSerializer()
                .serialize(request: URLRequest(text: ""), response: head, data: Data("abcd".utf8), error: nil)
            // The character set was ignored, or it is known.
            #expect(known.map { StringResponseSerializer.encoding(named: $0) != nil } ?? (text == "abcd"))
        } catch let error as AFError {
            #expect(error.isResponseSerializationError && error.description.utf8.count < 100_000)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test(arguments: ["gzip", "deflate", "br", "zstd", "x", "gzip, gzip"])
    func `a body that does not match its content coding is an error or is returned unchanged`(
        coding: String
    ) async throws {
        try await withServer({ _ in Reply("no such coding", fields: ["Content-Encoding": coding]) }) { lab in
            let response = try await lab.session(deadline: .seconds(10)).request(lab.server.url())
                .serializingData().response
            #expect(response.error?.isSessionTaskError == true || response.value == Data("no such coding".utf8))
        }
    }

    @Test(arguments: [
        "", " ", "//", "http://", "http:///", "javascript:1", "file:///etc/passwd", "ftp://h/", "http://[", "\u{0}",
        "http://h:99999/", "data:,x",
    ])
    func `a redirect to an invalid URL is not followed`(location: String) async throws {
        try await withServer({ seen in
            seen.path == "/start" ? Reply("r", status: 302, fields: ["Location": location]) : Reply("other")
        }) { lab in
            let response = try await lab.session(deadline: .seconds(1)).request(lab.server.url("/start"))
                .serializingString().response
            // An empty Location is the same URL (RFC 3986, section 4.4), which is a cycle.
            #expect(response.response?.statusCode == 302 || response.error != nil)
            #expect(lab.server.seen.allSatisfy { $0.path == "/start" })
        }
    }
}
