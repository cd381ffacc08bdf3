import LinuxSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NetworkReachability
import ServerTrust
import ServerTrustNIO
import TestSupport
import Testing
import TrustForge

@testable import ReachabilityChecks

/// Answers of strangers: whatever they are, there is one result, and no more is kept than is allowed.
@Suite struct WebFuzzTests {
    private static let count = MutationCount.value
    /// Reading the roots of the machine is not what is tried.
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
    func `damaged answers`(purpose: WebRequest.Purpose) async throws {
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
        // It is no fuzzing where all end in the same way.
        #expect(ends.count >= 2, "\(ends)")
    }

    private static func result(
        of bytes: [UInt8],
        _ purpose: WebRequest.Purpose,
        _ chance: inout SeededGenerator
    ) throws -> ProbeResult {
        let request = WebRequest(try TrustedHTTPURL("http://web.example/"), purpose)
        let outcome = try outcome(of: bytes, request, &chance)
        let probe = ProbeRequest(request.kind, .target, binding: ProbeBinding(family: .ipv4))
        var result = ProbeResult(probe, generation: 1, .answered)
        if purpose == .portalAPI { result.evidence.portal = try? PortalInformation(json: outcome.body) }
        result.take(outcome, of: request)
        return result
    }

    /// Feeds an answer, in pieces, to a conversation.
    private static func outcome(
        of bytes: [UInt8],
        _ request: WebRequest,
        _ chance: inout SeededGenerator
    ) throws -> WebOutcome {
        let channel = EmbeddedChannel()
        let ended = channel.eventLoop.makePromise(of: WebOutcome.self)
        try WebConversation.prepare(channel, for: request, trust: trust, ended: ended)
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).wait()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...64, using: &chance))
            rest = rest.dropFirst(piece.count)
            _ = try? channel.writeInbound(ByteBuffer(bytes: piece))
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        let outcome = try ended.futureResult.wait()
        #expect(outcome.body.count <= WebLimits.portal)
        return outcome
    }

    // MARK: Plain answers

    private static let plain = [
        answers[0], answers[1],
        "HTTP/1.1 200 OK\r\nServer: a\r\nContent-Type: text/html\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
        "HTTP/1.0 404 Not Found\r\ncontent-length:0\r\nX-A:   b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + String(repeating: "a", count: 4096),
    ]

    @Test func `what is read as a plain answer is read the same by the parser of HTTP`() async throws {
        var chance = SeededGenerator(seed: 19)
        let request = WebRequest(try TrustedHTTPURL("http://web.example/"), .target)
        var (read, strange) = (0, 0)
        for round in 0..<Self.count / 4 {
            await takeTurns(in: round)
            var bytes = Array(Self.plain[round % Self.plain.count].utf8)
            if round >= Self.plain.count { bytes = DamagedBytes.make(from: bytes, using: &chance) }
            guard let plain = PlainAnswer(bytes) else {
                strange += 1
                #expect(round >= Self.plain.count, "\(round)")
                continue
            }
            read += 1
            let outcome = try Self.outcome(of: bytes, request, &chance)
            guard case .answered = outcome.end, let answer = outcome.answer else {
                Issue.record("\(String(decoding: bytes, as: UTF8.self)): \(outcome.end)")
                continue
            }
            #expect(answer.status == plain.status)
            #expect(answer.location == plain.fields["location"])
            #expect(answer.response == plain.fields["reachability-response"])
            let hasDate = plain.fields["date"].flatMap { HTTPDate($0) } != nil
            #expect(
                (answer.clockOffset != nil) == hasDate,
                "\(String(decoding: bytes, as: UTF8.self).debugDescription)"
            )
        }
        // It is no fuzzing where all are read, or none.
        #expect(min(read, strange) * 20 > read + strange, "\(read) \(strange)")
    }

    @Test(arguments: [
        "", "HTTP/1.1 204 No Content\r\n", "HTTP/1.1 204 No Content\r\n\r\nx", "HTTP/1.1 204\r\n\r\n",
        "HTTP/2.0 204 No Content\r\n\r\n", "HTTP/1.1 103 Early\r\n\r\n", "HTTP/1.1 204 No Content\n\n",
        "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "HTTP/1.1 200 OK\r\nContent-Length: +0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\nA: \u{e4}\r\n\r\n", "HTTP/1.1 204 No Content\r\nA: b \r\n\r\n",
    ])
    func `what is unusual is no plain answer`(text: String) {
        #expect(PlainAnswer(Array(text.utf8)) == nil)
    }

    @Test func `who has too much to do says how long to leave it alone`() {
        func wait(_ status: HTTPResponseStatus, _ fields: [(String, String)]) -> Duration? {
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: HTTPHeaders(fields))
            return WebAnswer(head, at: .seconds(1000)).retryAfter
        }
        let date = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT")]
        #expect(wait(.serviceUnavailable, [("Retry-After", "120")]) == .seconds(120))
        // By its own clock, which may differ from ours.
        #expect(wait(.tooManyRequests, date) == .seconds(60))
        #expect(wait(.serviceUnavailable, [("Retry-After", "soon")]) == nil)
        #expect(wait(.serviceUnavailable, []) == nil && wait(.movedPermanently, date) == nil)
    }

    @Test func `dates`() async throws {
        #expect(HTTPDate("Sun, 06 Nov 1994 08:49:37 GMT")?.sinceEpoch == .seconds(784_111_777))
        for text in [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Sün, 06 Nov 1994 8:49:37 GMT",
        ] { #expect(HTTPDate(text) == nil, "\(text)") }
        var chance = SeededGenerator(seed: 18)
        for round in 0..<Self.count {
            await takeTurns(in: round)
            let bytes = DamagedBytes.make(from: Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8), using: &chance)
            if let date = HTTPDate(String(decoding: bytes, as: UTF8.self)) {
                #expect(date.sinceEpoch < .seconds(260_000_000_000))
            }
        }
    }
}
