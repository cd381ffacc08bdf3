import AsyncHTTPClient
import LinuxSupport
import NIOCore
import NIOSSL
import NetworkLab
import TestSupport
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// The permit that an attempt needs to send its first byte.
@Suite(.timeLimit(.minutes(15))) struct SendPermitTests {
    private let lab = HTTPLab()

    private static func post(_ url: String, body: String? = "one") -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = body.map { .bytes(ByteBuffer(string: $0)) }
        return request
    }

    @Test func `a permit is used once or revoked`() {
        let progress = AttemptProgress()
        let used = SendPermit(progress)
        #expect(used.use() && !used.use() && !used.revoke() && progress.hasSent)
        let other = AttemptProgress()
        let revoked = SendPermit(other)
        #expect(revoked.revoke() && revoked.revoke() && !revoked.use() && !other.hasSent)
    }

    @Test func `of two concurrent uses and revocations one succeeds`() async {
        for _ in 0..<1000 {
            let progress = AttemptProgress()
            let permit = SendPermit(progress)
            async let isUsed = Task.detached { permit.use() }.value
            async let isRevoked = Task.detached { permit.revoke() }.value
            let (used, revoked) = await (isUsed, isRevoked)
            #expect(used != revoked && progress.hasSent == used)
        }
    }

    @Test(arguments: [nil, "one"])
    func `without a permit nothing is sent, and the client remains usable`(body: String?) async throws {
        try await withFaultServer { server in
            let transport = HTTPTransport(HTTPLab.configuration, on: HTTPClient.defaultEventLoopGroup)
            for isRevoked in [false, true, false] {
                let permit = SendPermit(AttemptProgress())
                if isRevoked { permit.revoke() }
                let before = server.received.count
                let request = Self.post(server.url(), body: body)
                let result = await Result { () async throws -> UInt in
                    let response = try await transport.send(
                        request,
                        with: permit,
                        trace: [],
                        cuts: 0,
                        timeout: nil,
                        logger: nil
                    )
                    _ = try await response.body.collect(upTo: 100)
                    return response.status.code
                }
                if isRevoked {
                    #expect(throws: AttemptError.self) { try result.get() }
                } else {
                    #expect(try result.get() == 200)
                }
                #expect(server.received.count == before + (isRevoked ? 0 : 1))
            }
            #expect(server.received.allSatisfy { $0.fields[SendPermits.field.lowercased()] == nil })
            try await transport.client.shutdown()
        }
    }

    @Test func `without a permit nothing is sent over HTTP/2`() async throws {
        let server = try await SecureServer([])
        var configuration = HTTPLab.configuration
        configuration.httpVersion = .automatic
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        configuration.tlsConfiguration = tls
        let transport = HTTPTransport(configuration, on: HTTPClient.defaultEventLoopGroup)
        for isRevoked in [false, true, false] {
            let permit = SendPermit(AttemptProgress())
            if isRevoked { permit.revoke() }
            let before = server.streams
            let request = Self.post(server.url)
            let result = await Result {
                try await transport.send(request, with: permit, trace: [], cuts: 0, timeout: nil, logger: nil).status
            }
            if isRevoked {
                #expect(throws: (any Error).self) { try result.get() }
            } else {
                #expect(try result.get() == .ok)
            }
            #expect(server.streams == before + (isRevoked ? 0 : 1))
        }
        try await transport.client.shutdown()
        try await server.close()
    }

    /// The timeouts are as short as the time to connect, so many of them elapse while the request is written.
    @Test func `a POST whose attempts end at random moments arrives at most once`() async throws {
        let policy = try lab.policy(attempts: 200, attemptsAfterSending: 200)
        try await withFaultServer { server in
            try await withClient { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for seed in 0..<400 as Range<UInt64> {
                        if seed >= 8 { try await group.next() }
                        group.addTask { [lab] in
                            var random = SeededGenerator(seed: seed)
                            let timeout = Duration.microseconds(Int.random(in: 50...3000, using: &random))
                            var request = Self.post(server.url(), body: seed % 2 == 0 ? "one" : nil)
                            // Each attempt opens a connection.
                            request.headers.add(name: "Connection", value: "close")
                            let options = lab.options([], id: "\(seed)", timeout: timeout)
                            var attempts: [RetryAttempt]
                            do throws(RetryError) {
                                attempts = try await client.execute(request, retry: policy, options: options).attempts
                            } catch {
                                attempts = error.attempts
                            }
                            // All attempts except the last have sent nothing.
                            #expect(attempts.dropLast().allSatisfy { $0.stage == .neverSent }, "\(seed)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            for seed in 0..<400 { #expect(server.received.filter { $0.id == "\(seed)" }.count <= 1, "\(seed)") }
        }
    }
}

extension Result where Failure == any Error {
    /// The result of asynchronous work.
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
