import LinuxSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NetworkReachability
import ServerTrust
import TestSupport
import Testing
import TrustForge

@testable import ReachabilityChecks
@testable import ServerTrustNIO

/// Damaged responses. Each has one result, and no more data is kept than permitted.
@Suite struct WebFuzzTests {
    private static let count = MutationCount.value
    /// Reading the trust store of the machine is not part of this test.
    private static let trust = WebTrust(anchors: TrustAnchors([]))

    private static let answers = [
        "HTTP/1.1 204 No Content\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nReachability-Response: 0123\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: https://portal.example/\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>until the end</p>",
        "HTTP/1.1 200 OK\r\nContent-Type: application/captive+json\r\nContent-Length: 49\r\n\r\n"
            + "{\"captive\":true,\"user-portal-url\":\"https://a/\\u00e4\"}",
    ]

    @Test(arguments: [WebRequest.Purpose.anchor(nonce: "0123"), .target, .page, .portalAPI])
    func `damaged responses have one result and bounded memory`(purpose: WebRequest.Purpose) async throws {
        var chance = SeededGenerator(seed: 17)
        var ends: [ProbeOutcome: Int] = [:]
        for round in 0..<Self.count / 4 {
            await takeTurns(in: round)
            var bytes = Array(Self.answers[round % Self.answers.count].utf8)
            if round >= Self.answers.count { bytes = DamagedBytes.make(from: bytes, using: &chance) }
            let result = try Self.result(of: bytes, purpose, &chance)
            ends[result.outcome, default: 0] += 1
            #expect(result.outcome != .silent)
        }
        // If all rounds had the same result, the damage would have no effect.
        #expect(ends.count >= 2, "\(ends)")
    }

    private static func result(
        of bytes: [UInt8],
        _ purpose: WebRequest.Purpose,
        _ chance: inout SeededGenerator
    ) throws -> ProbeResult {
        let request = WebRequest(try TrustedHTTPURL("http://web.example/"), purpose)
        let trace = try trace(of: bytes, request, &chance)
        if purpose == .portalAPI { #expect(trace.body.count <= WebLimits.portal) }
        let probe = ProbeRequest(request.kind, .target, binding: ProbeBinding(family: .ipv4))
        var result = ProbeResult(probe, generation: 1, .answered)
        result.take(trace, of: request, trust.recorder(for: purpose), now: trust.now())
        return result
    }

    /// Feeds a response in pieces to an exchange, and returns the outcome.
    private static func trace(
        of bytes: [UInt8],
        _ request: WebRequest,
        _ chance: inout SeededGenerator
    ) throws -> HTTPTrace {
        let channel = EmbeddedChannel()
        let settings = request.settings(limit: .seconds(60))
        let exchange = HTTPExchange(
            request: request.http,
            head: try request.http.head(forProxy: nil),
            settings: settings,
            tls: nil,
            connector: SocketConnector(group: .singleton),
            loop: channel.eventLoop
        )
        let state = HTTPRequestState(ConnectionTarget(request.url, settings))
        try channel.pipeline.syncOperations.addHandler(ByteGuard(request))
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).wait()
        try exchange.send(channel, state)
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...64, using: &chance))
            rest = rest.dropFirst(piece.count)
            _ = try? channel.writeInbound(ByteBuffer(bytes: piece))
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        #expect(state.isOver)
        return state.trace
    }

    @Test func `an overloaded server requests a pause`() throws {
        let request = WebRequest(try TrustedHTTPURL("http://web.example/"), .target)
        func wait(_ status: HTTPResponseStatus, _ fields: [(String, String)]) -> Duration? {
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: HTTPHeaders(fields))
            return HTTPFacts(head, of: request, at: .seconds(1000)).retryAfter
        }
        let date = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT")]
        #expect(wait(.serviceUnavailable, [("Retry-After", "120")]) == .seconds(120))
        // The date is measured with the server's clock, which may differ from this machine's.
        #expect(wait(.tooManyRequests, date) == .seconds(60))
        #expect(wait(.serviceUnavailable, [("Retry-After", "soon")]) == nil)
        #expect(wait(.serviceUnavailable, []) == nil && wait(.movedPermanently, date) == nil)
    }
}
