import AsyncHTTPClient
import Foundation
import FoundationNetworking
import NIOCore
import NetworkLab
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry
@testable import ReachabilityURLSession

/// Invalid requests from an adapter. For some of them swift-nio would end the process, and other clients would send
/// them.
@Suite(.timeLimit(.minutes(15))) struct InvalidRequestTests {
    private let lab = HTTPLab()
    private struct Changing: RequestAdapter {
        let change: @Sendable (inout RequestHead) -> Void

        func adapt(_ request: RequestHead) async throws -> RequestHead {
            var request = request
            change(&request)
            return request
        }
    }

    private func options(_ change: @escaping @Sendable (inout RequestHead) -> Void) -> RequestRetryOptions {
        // The retrier has no influence.
        let retrier = Retrier { _, _, completion in completion(.retry) }
        return RequestRetryOptions(
            adapter: Changing(change: change),
            retrier: retrier,
            coordinator: lab.coordinator
        )
    }

    private func check(
        _ invalid: InvalidRequest,
        _ change: @escaping @Sendable (inout RequestHead) -> Void
    ) async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let (options, policy) = (options(change), try lab.policy())
                let bare = HTTPClientRequest(url: server.url())
                var withBody = bare
                (withBody.method, withBody.body) = (.PUT, .bytes(ByteBuffer(string: "x")))
                let plain = URLRequest(url: try #require(URL(string: server.url())))
                var stream = plain
                (stream.httpMethod, stream.httpBodyStream) = ("PUT", InputStream(data: Data("x".utf8)))
                await expect(invalid) { _ = try await client.execute(bare, retry: policy, options: options) }
                await expect(invalid) { _ = try await client.execute(withBody, retry: policy, options: options) }
                await expect(invalid) {
                    _ = try await URLSession.shared.data(for: plain, retry: policy, options: options)
                }
                await expect(invalid) {
                    _ = try await URLSession.shared.data(for: stream, retry: policy, options: options)
                }
                #expect(server.received.isEmpty && server.connections == 0)
            }
        }
    }

    private func expect(_ invalid: InvalidRequest, _ send: () async throws -> Void) async {
        do {
            try await send()
            Issue.record("an invalid request was sent")
        } catch {
            let error = error as? RetryError
            #expect(error?.ending == .notRetryable && error?.attempts.count == 1)
            #expect((error?.lastError as? AttemptError)?.cause as? InvalidRequest == invalid)
        }
    }

    @Test(arguments: [
        ("Höflich", "x"), ("", "x"), ("a b", "x"), ("a:b", "x"), ("a\r\nb", "x"), ("Name", "x\r\nInjected: 1"),
        ("Name", "x\ny"), ("Name", "x\ry"), ("Name", "x\0y"),
    ])
    func `an invalid header field is an error and is not sent`(name: String, value: String) async throws {
        try await check(.header(name: name)) { request in
            request.fields.append(RequestHead.Field(name: name, value: value))
        }
    }

    @Test(arguments: ["", "GET /other HTTP/1.1\r\nHost: x\r\n\r\nGET", "GÉT", "GET "])
    func `an invalid method is an error`(method: String) async throws {
        try await check(.method(method)) { $0.method = RequestMethod(rawValue: method) }
    }

    @Test func `a field value that is not ASCII is sent unchanged`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let options = options { $0["Name"] = "grüße" }
                _ = try await client.execute(
                    HTTPClientRequest(url: server.url()),
                    retry: lab.policy(),
                    options: options
                )
                #expect(server.received.map { $0.fields["name"] } == ["grüße"])
            }
        }
    }

    @Test func `an invalid field of the caller is refused before any wait`() async throws {
        let request = RequestHead(url: "http://127.0.0.1:1/", fields: [.init(name: "a", value: "b\r\nc: d")])
        let (policy, options) = (try lab.policy(), RequestRetryOptions(coordinator: lab.coordinator))
        do throws(RetryError) {
            _ = try await withRetry(request, policy: policy, options: options) { _ in true }
            Issue.record("an invalid request was sent")
        } catch {
            #expect(error.lastError as? InvalidRequest == .header(name: "a"))
        }
        #expect(InvalidRequest.header(name: "a\u{1b}[2J").description.contains(#"a\u{1B}[2J"#))
    }
}
