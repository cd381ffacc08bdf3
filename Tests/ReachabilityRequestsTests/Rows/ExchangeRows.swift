import FoundationEssentials
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
                .serializingString().response
            #expect(response.error == nil && lab.server.seen.map(\.method) == [name])
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
