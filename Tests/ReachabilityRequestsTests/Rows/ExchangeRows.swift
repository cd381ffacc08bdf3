import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Exchanges with a server with the expectations of Alamofire's tests, one row each.
struct ExchangeRows {
    @Test(arguments: [
        (HTTPMethod.get, "GET"), (.head, "HEAD"), (.post, "POST"), (.put, "PUT"), (.delete, "DELETE"),
        (.patch, "PATCH"), (.options, "OPTIONS"), (.trace, "TRACE"), (HTTPMethod(rawValue: "PURGE"), "PURGE"),
    ])
    func `each method arrives at the server`(method: HTTPMethod, name: String) async throws {
        try await withServer({ Reply($0.method) }) { lab in
            let response = try await lab.session().request(lab.server.url(), method: method).validate()
                .serializingResponse(using: StringResponseSerializer()).response
            #expect(response.error == nil && lab.server.seen.map(\.method) == [name])
        }
    }

    /// RFC 9110, section 15.4.
    @Test(arguments: [
        (301, "GET", "GET"), (301, "HEAD", "HEAD"), (301, "POST", "GET"), (301, "PUT", "PUT x"),
        (301, "DELETE", "DELETE"), (301, "PATCH", "PATCH x"), (302, "GET", "GET"), (302, "HEAD", "HEAD"),
        (302, "POST", "GET"), (302, "PUT", "PUT x"), (302, "DELETE", "DELETE"), (302, "PATCH", "PATCH x"),
        (303, "GET", "GET"), (303, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "PUT", "GET"),
        (303, "DELETE", "GET"), (303, "PATCH", "GET"), (307, "GET", "GET"), (307, "HEAD", "HEAD"),
        (307, "POST", "POST x"), (307, "PUT", "PUT x"), (307, "DELETE", "DELETE"), (307, "PATCH", "PATCH x"),
        (308, "GET", "GET"), (308, "HEAD", "HEAD"), (308, "POST", "POST x"), (308, "PUT", "PUT x"),
        (308, "DELETE", "DELETE"), (308, "PATCH", "PATCH x"),
    ])
    func `a redirect keeps or changes method and body as RFC 9110 requires`(
        status: Int,
        method: String,
        next: String
    ) async throws {
        try await withServer({ seen in
            seen.path == "/a" ? Reply(status: status, fields: ["Location": "/b"]) : Reply("end")
        }) { lab in
            let hasBody = ["POST", "PUT", "PATCH"].contains(method)
            let request = URLRequest(
                text: lab.server.url("/a"),
                method: HTTPMethod(rawValue: method),
                headers: [.authorization("secret"), HTTPHeader(name: "Own", value: "1")],
                body: hasBody ? Data([0x78]) : nil
            )
            _ = await (try lab.session()).request(request).serializingResponse(using: StringResponseSerializer())
                .response
            let last = try #require(lab.server.seen.last)
            let body = String(decoding: last.body, as: UTF8.self)
            #expect(last.method + (body.isEmpty ? "" : " " + body) == next && last.path == "/b")
            // The origin is the same, so the fields of the caller stay.
            #expect(last.fields["authorization"] == "secret" && last.fields["own"] == "1")
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect to another origin sends no secrets`(status: Int) async throws {
        try await withServer({ _ in Reply("end") }) { other in
            let there = other.server.url("/b")
            try await withServer({ _ in Reply(status: status, fields: ["Location": there]) }) { lab in
                let headers: HTTPHeaders = [
                    .authorization("secret"), HTTPHeader(name: "Cookie", value: "secret"),
                    HTTPHeader(name: "Proxy-Authorization", value: "secret"), HTTPHeader(name: "Own", value: "1"),
                ]
                _ = try await lab.session().request(lab.server.url(), headers: headers).serializingString().value
                let fields = try #require(other.server.seen.last?.fields)
                #expect(!fields.values.contains("secret") && fields["own"] == "1")
            }
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect that is not followed is the answer`(status: Int) async throws {
        try await withServer({ _ in Reply("page", status: status, fields: ["Location": "/b"]) }) { lab in
            let session = try lab.session().overriding { $0.options.redirects = RedirectRule.none }
            let response = await session.request(lab.server.url()).serializingResponse(
                using: StringResponseSerializer()
            ).response
            // Intended difference: the body of the redirect is not read.
            #expect(response.response?.statusCode == status && response.metrics?.hops.count == 1)
            #expect(
                await session.request(lab.server.url()).validate().serializingResponse(
                    using: StringResponseSerializer()
                ).response
                    .error?.responseCode == status
            )
        }
    }

    @Test(arguments: [
        ("user", "password", true), ("user", "other", false), ("other", "password", false), ("", "", false),
        ("us:er", "password", false),
    ])
    func `a name and a password are accepted only if both are right`(
        name: String,
        password: String,
        isIn: Bool
    ) async throws {
        try await withServer({
            Reply("in", status: $0.fields["authorization"] == "Basic dXNlcjpwYXNzd29yZA==" ? 200 : 401)
        }) {
            lab in
            let headers: HTTPHeaders = [.authorization(username: name, password: password)]
            let response = try await lab.session().request(lab.server.url(), headers: headers).validate()
                .serializingResponse(using: StringResponseSerializer()).response
            #expect(response.error?.responseCode == (isIn ? nil : 401))
        }
    }

    @Test(arguments: [
        "max-age=3600", "public, max-age=3600", "private", "no-store", "no-cache", "immutable", "max-age=0",
    ])
    func `answers are not cached, regardless of Cache-Control`(control: String) async throws {
        try await withServer({ _ in Reply("x", fields: ["Cache-Control": control, "ETag": "\"v\""]) }) { lab in
            let session = try lab.session()
            for _ in 0..<2 { #expect(try await session.request(lab.server.url()).serializingString().value == "x") }
            #expect(lab.server.seen.count == 2 && lab.server.seen.allSatisfy { $0.fields["if-none-match"] == nil })
        }
    }

    @Test(arguments: [
        (HTTPHeader.accept("a"), "accept", "a"), (.acceptCharset("a"), "accept-charset", "a"),
        (.acceptEncoding("a"), "accept-encoding", "a"), (.acceptLanguage("a"), "accept-language", "a"),
        (.authorization("a"), "authorization", "a"), (.authorization(bearerToken: "a"), "authorization", "Bearer a"),
        (.authorization(username: "a", password: "b"), "authorization", "Basic YTpi"),
        (.contentDisposition("a"), "content-disposition", "a"), (.contentType("a/b"), "content-type", "a/b"),
        (.userAgent("a"), "user-agent", "a"), (HTTPHeader(name: "X", value: ""), "x", ""),
        (
            HTTPHeader(name: "x-long", value: String(repeating: "a", count: 4000)), "x-long",
            String(repeating: "a", count: 4000)
        ),
    ])
    func `header fields of a request and of a session arrive at the server`(
        header: HTTPHeader,
        name: String,
        value: String
    ) async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            _ = try await lab.session().request(lab.server.url(), headers: [header]).serializingString().value
            #expect(lab.server.seen.map { $0.fields[name] } == [value])
            _ = try await lab.session(headers: [header]).request(lab.server.url()).serializingString().value
            #expect(lab.server.seen.map { $0.fields[name] } == [value, value])
        }
    }

    private struct Refusal: Error {}

    @Test(arguments: [
        ("/200", "task, answer 200"), ("/404", "task, answer 404"), ("/204", "task, answer 204"),
        ("/503", "task, retry, task, retry, task, answer 503"), ("/302", "task, answer 302, answer 200"),
    ])
    func `an exchange reports its tasks, retries and answers`(path: String, names: String) async throws {
        let recorder = EventRecorder()
        try await withServer({ seen in
            Reply(
                "x",
                status: Int(seen.path.dropFirst()) ?? 0,
                fields: seen.path == "/302" ? ["Location": "/200"] : [:]
            )
        }) { lab in
            _ = await (try lab.session(monitors: [recorder])).request(lab.server.url(path)).validate()
                .serializingData().response
            let found = await recorder.events().filter { $0 == "task" || $0 == "retry" || $0.hasPrefix("answer") }
            #expect(found.joined(separator: ", ") == names)
        }
    }

    @Test(arguments: [1, 2, 10, 100]) func `concurrent requests receive their own answers`(count: Int) async throws {
        try await withServer({ Reply($0.path) }) { lab in
            let session = try lab.session()
            try await withThrowingTaskGroup { group in
                for number in 0..<count {
                    group.addTask {
                        (
                            number,
                            try await session.request(lab.server.url("/\(number)")).validate().serializingString().value
                        )
                    }
                }
                for try await (number, text) in group { #expect(text == "/\(number)") }
            }
            #expect(lab.server.seen.count == count)
        }
    }
}
