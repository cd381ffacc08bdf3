import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NetworkLab
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// Request bodies of `HTTPClientRequest`. A retry sends the whole body or is not made.
@Suite(.timeLimit(.minutes(15))) struct BodyTests {
    private let lab = HTTPLab()

    /// A stream that can be read only once, because it is an `AsyncStream`.
    private static func stream(_ parts: [String]) -> HTTPClientRequest.Body {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        for part in parts { continuation.yield(ByteBuffer(string: part)) }
        continuation.finish()
        return .stream(stream, length: .unknown)
    }

    @Test func `each kind of body is replayable or not`() {
        let bytes = Array("bytes".utf8)
        #expect(HTTPClientRequest.Body.bytes(ByteBuffer(bytes: bytes)).isReplayable)
        #expect(HTTPClientRequest.Body.bytes(bytes).isReplayable)
        #expect(HTTPClientRequest.Body.bytes("bytes".utf8, length: .known(Int64(5))).isReplayable)
        #expect(HTTPClientRequest.Body.bytes(Set(bytes), length: .unknown).isReplayable)
        #expect(!HTTPClientRequest.Body.bytes(stride(from: UInt8(0), to: 5, by: 1), length: .unknown).isReplayable)
        #expect(!Self.stream(["a"]).isReplayable)
    }

    private func put(
        _ body: HTTPClientRequest.Body?,
        _ faults: [Fault],
        make: (@Sendable () throws -> HTTPClientRequest.Body)? = nil
    ) async throws -> (result: Result<RetryOutcome<HTTPClientResponse>, RetryError>, seen: [ReceivedRequest]) {
        try await withFaultServer { server in
            try await withClient { client in
                var request = HTTPClientRequest(url: server.url())
                request.method = .PUT
                request.body = body
                let options = lab.options(faults, id: "1")
                do throws(RetryError) {
                    let policy = (try? lab.policy()) ?? .standard
                    let outcome = try await client.execute(request, retry: policy, options: options, body: make)
                    return (.success(outcome), server.received)
                } catch {
                    return (.failure(error), server.received)
                }
            }
        }
    }

    @Test func `a stream that was partly read is not sent again`() async throws {
        let (result, seen) = try await put(Self.stream(["one", "two"]), [.resetAfterBody, .answer(200)])
        let error = try #require(result.failure)
        #expect(error.ending == .notRetryable && error.attempts.count == 1)
        #expect((error.lastError as? AttemptError)?.code == "bodyNotReplayable")
        #expect(seen.map(\.bodyText) == ["onetwo"])
    }

    @Test func `the response to a stream that was read is returned without a retry`() async throws {
        let (result, seen) = try await put(Self.stream(["one", "two"]), [.answer(503), .answer(200)])
        let outcome = try result.get()
        #expect(outcome.value.status == .serviceUnavailable && seen.count == 1)
        #expect((outcome.attempts[0].error as? AttemptError)?.code == "bodyNotReplayable")
    }

    @Test func `a stream that was not read is sent by a later attempt`() async throws {
        let (result, seen) = try await put(Self.stream(["one", "two"]), [.refuse, .noName, .answer(200)])
        #expect(try result.get().attempts.count == 3)
        #expect(seen.map(\.bodyText) == ["onetwo"])
    }

    @Test func `a body from a closure is sent again`() async throws {
        let (result, seen) = try await put(nil, [.resetAfterBody, .answer(503), .answer(200)]) {
            Self.stream(["one", "two"])
        }
        #expect(try result.get().attempts.count == 3)
        #expect(seen.map(\.bodyText) == ["onetwo", "onetwo", "onetwo"])
    }

    @Test func `an error of the body's closure ends the request`() async throws {
        struct NoFile: Error {}
        let (result, seen) = try await put(nil, [.answer(200)]) { throw NoFile() }
        let error = try #require(result.failure)
        #expect((error.lastError as? AttemptError)?.cause is NoFile && seen.isEmpty)
    }

    @Test func `bytes are sent again`() async throws {
        let faults = [Fault.resetAfterBody, .resetBeforeHead, .answer(200)]
        let (result, seen) = try await put(.bytes(Array("bytes".utf8)), faults)
        #expect(try result.get().attempts.count == 3)
        #expect(seen.filter(\.isComplete).map(\.bodyText) == ["bytes", "bytes"])
    }
}
