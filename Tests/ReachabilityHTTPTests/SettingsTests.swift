import AsyncHTTPClient
import Foundation
import FoundationNetworking
import LinuxSupport
import NIOCore
import NetworkLab
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry
@testable import ReachabilityURLSession

/// Settings for all requests of a client, and for a single request.
@Suite(.timeLimit(.minutes(15))) struct SettingsTests {
    private let lab = HTTPLab()

    private func settings(_ faults: [Fault], id: String) throws -> RetrySettings {
        RetrySettings(policy: try lab.policy(), options: lab.options(faults, id: id))
    }

    private static func post(_ url: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: "one"))
        return request
    }

    @Test func `the settings of a client apply to each form of request`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let observed = Locked(0)
                var settings = try settings([.answer(503)], id: "1")
                settings.policy = try RetryPolicy(attempts: 2, backoff: Backoff(base: .zero, cap: .zero))
                settings.options.observer = { event in if case .ended = event { observed.withLock { $0 += 1 } } }
                let retrying = client.overriding { $0 = settings }
                let request = HTTPClientRequest(url: server.url())
                #expect(try await retrying.execute(request).attempts.count == 2)
                let read = try await retrying.execute(request) { response in try await response.body.collect(upTo: 99) }
                #expect(String(buffer: read.value) == "status 503" && read.attempts.count == 2)
                #expect(server.received.count == 4 && observed.withLock { $0 } == 2)
            }
        }
    }

    @Test func `overriding settings applies to one request only`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let retrying = try client.overriding { $0 = try settings([.answer(503)], id: "1") }
                let once = try RetryPolicy(deadline: nil, attempts: 1)
                let request = HTTPClientRequest(url: server.url())
                #expect(try await retrying.overriding { $0.policy = once }.execute(request).attempts.count == 1)
                #expect(try await retrying.execute(request).attempts.count == 3)
                let session = URLSession.shared.retrying(retrying.settings)
                let plain = URLRequest(url: try #require(URL(string: server.url())))
                #expect(try await session.overriding { $0.policy = once }.data(for: plain).attempts.count == 1)
                #expect(try await session.data(for: plain).attempts.count == 3)
                var put = plain
                put.httpMethod = "PUT"
                #expect(try await session.upload(for: put, from: Data("x".utf8)).attempts.count == 3)
                let file = try await session.download(for: plain)
                #expect(file.attempts.count == 3)
                try FileManager.default.removeItem(at: file.value.0)
            }
        }
    }

    @Test(arguments: ["Idempotency-Key", "PayPal-Request-Id"])
    func `a POST with a generated key is repeated with the same key`(header: String) async throws {
        try await withFaultServer { server in
            try await withClient { client in
                var settings = try settings([.closeAfterBody, .answer(201)], id: "a")
                settings.options.idempotency = .made(in: header)
                let outcome = try await client.overriding { $0 = settings }.execute(Self.post(server.url()))
                #expect(outcome.value.status == .created && outcome.attempts.count == 2)
                settings.options.adapter = FaultAdapter([.closeAfterBody, .answer(201)], id: "b")
                var plain = URLRequest(url: try #require(URL(string: server.url())))
                plain.httpMethod = "POST"
                #expect(try await URLSession.shared.retrying(settings).data(for: plain).attempts.count == 2)
                let keys = server.received.map { $0.fields[header.lowercased()] ?? "" }
                #expect(keys.count == 4 && keys[0] == keys[1] && keys[2] == keys[3] && keys[0] != keys[2])
                #expect(keys.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
            }
        }
    }

    @Test func `a key of the caller is kept, and a GET gets no key`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                var settings = try settings([.closeAfterBody, .answer(201)], id: "a")
                settings.options.idempotency = .made(in: "Request-Id")
                var post = Self.post(server.url())
                post.headers.add(name: "request-id", value: "mine")
                #expect(try await client.overriding { $0 = settings }.execute(post).attempts.count == 2)
                settings.options.adapter = FaultAdapter([.answer(200)], id: "b")
                _ = try await client.overriding { $0 = settings }.execute(HTTPClientRequest(url: server.url()))
                #expect(server.received.map { $0.fields["request-id"] } == ["mine", "mine", nil])
            }
        }
    }

    @Test func `a key in another header field does not permit a retry`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                var settings = try settings([.closeAfterBody, .answer(201)], id: "a")
                settings.options.idempotency = .given(in: "Request-Id")
                var post = Self.post(server.url())
                post.headers.add(name: "Idempotency-Key", value: "mine")
                do throws(RetryError) {
                    _ = try await client.overriding { $0 = settings }.execute(post)
                    Issue.record("the request was sent again")
                } catch {
                    #expect(error.ending == .unsafeToRepeat && server.received.count == 1)
                }
            }
        }
    }
}
