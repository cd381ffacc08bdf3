import AsyncHTTPClient
import NIOCore
import NIOSSL
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// TLS and HTTP/2 with a real server.
@Suite(.timeLimit(.minutes(15))) struct SecureTests {
    private let lab = HTTPLab()

    /// Sends a POST without a key. Returns the result and the number of streams.
    private func post(
        _ deeds: [SecureServer.Deed],
        body: String? = "one",
        verification: CertificateVerification = .none
    ) async throws -> (result: Result<RetryOutcome<HTTPClientResponse>, RetryError>, streams: Int) {
        let server = try await SecureServer(deeds)
        var configuration = HTTPLab.configuration
        configuration.httpVersion = .automatic
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = verification
        configuration.tlsConfiguration = tls
        let policy = try lab.policy(attempts: 4)
        let result = try await withClient(configuration) { client in
            var request = HTTPClientRequest(url: server.url)
            request.method = .POST
            request.body = body.map { .bytes(ByteBuffer(string: $0)) }
            do throws(RetryError) {
                let outcome = try await client.execute(request, retry: policy, options: lab.options([]))
                return Result<RetryOutcome<HTTPClientResponse>, RetryError>.success(outcome)
            } catch {
                return .failure(error)
            }
        }
        let streams = server.streams
        try await server.close()
        return (result, streams)
    }

    private static func error(_ result: Result<RetryOutcome<HTTPClientResponse>, RetryError>) -> RetryError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test func `a request is sent over HTTP/2`() async throws {
        let (result, streams) = try await post([])
        let response = try result.get().value
        #expect(response.status == .ok && response.version == .http2 && streams == 1)
    }

    @Test(arguments: [nil, "one"])
    func `a stream that the server refused unprocessed is sent again`(body: String?) async throws {
        let (result, streams) = try await post([.reset(7)], body: body)
        let outcome = try result.get()
        #expect(outcome.value.status == .ok && streams == 2)
        #expect(outcome.attempts[0].stage == .neverSent)
    }

    @Test(arguments: [1, 1 << 16, 5 << 20])
    func `a response before the end of the request body is returned`(size: Int) async throws {
        let (result, streams) = try await post([.answer(413)], body: String(repeating: "x", count: size))
        #expect(try result.get().value.status == .payloadTooLarge && streams == 1)
    }

    @Test(arguments: [SecureServer.Deed.reset(2), .reset(8), .reset(11), .goAway, .close])
    func `a broken stream ends a POST`(deed: SecureServer.Deed) async throws {
        let (result, streams) = try await post([deed])
        let error = try #require(Self.error(result))
        #expect(error.ending == .unsafeToRepeat && streams == 1, "\(error)")
    }

    @Test func `a broken handshake counts as never sent`() async throws {
        let (result, streams) = try await post([.noHandshake, .noHandshake])
        let outcome = try result.get()
        #expect(outcome.attempts.map(\.stage) == [.neverSent, .neverSent, nil] && streams == 1)
    }

    @Test func `an invalid certificate is not retried`() async throws {
        let (result, streams) = try await post([], verification: .fullVerification)
        let error = try #require(Self.error(result))
        #expect(error.ending == .notRetryable && error.attempts.count == 1 && streams == 0, "\(error)")
    }
}
