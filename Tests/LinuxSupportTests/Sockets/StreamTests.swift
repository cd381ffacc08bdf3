import Glibc
import NetworkLab
import Testing

@testable import LinuxSupport

/// Exchanges over TCP with correct and with faulty peers.
@Suite(.enabled(if: getuid() == 0))
struct StreamTests {
    fileprivate static let question = Array("question".utf8)

    private func request(_ host: String = Chain.hosts[0], limit: Duration = .seconds(20)) throws -> StreamRequest {
        StreamRequest(
            to: try SocketEndpoint(host, port: UInt16(ScriptedServer.labPort)),
            Self.question,
            limit: limit,
            isComplete: { $0.last == UInt8(ascii: "!") }
        )
    }

    private static func server(in chain: Chain, _ script: @escaping ScriptedServer.Script) throws -> ScriptedServer {
        let (addresses, port) = (ScriptedServer.anyAddress, ScriptedServer.labPort)
        return try .perConnection(in: chain.server, at: addresses, port: port, script: script)
    }

    /// Returns the outcome of an exchange with a server that runs `serve`.
    private func exchange(
        _ request: StreamRequest,
        _ serve: @escaping @Sendable (LabStream) -> Void
    ) async throws -> StreamOutcome {
        let result = Locked<StreamOutcome?>(nil)
        try await Chain.run { chain in
            let server = try Self.server(in: chain) { serve($0.stream) }
            defer { server.stop() }
            let outcome = await (try chain.engine()).connect(request)
            result.withLock { $0 = outcome }
            try await chain.expectNoSockets()
        }
        return try #require(result.withLock { $0 })
    }

    @Test(arguments: Chain.hosts)
    func `a request is answered`(host: String) async throws {
        let outcome = try await exchange(try request(host)) { stream in
            stream.send(Array("to \(String(decoding: stream.receive(), as: UTF8.self))!".utf8))
            stream.waitForEnd()
        }
        try #require(outcome.end == .answered, "\(outcome)")
        #expect(outcome.bytes == Array("to question!".utf8))
        let (connected, first) = (try #require(outcome.connected), try #require(outcome.firstByte))
        #expect(connected <= first && first <= outcome.duration)
        let sent = try #require(outcome.sent)
        #expect(connected <= sent && sent <= first && outcome.handshake != nil)
        #expect(outcome.information?.roundTrip != nil && outcome.errors.isEmpty)
        #expect(outcome.local?.address == WireAddress(host.contains(":") ? "fd01::2" : "10.1.0.2"))
    }

    /// A peer, and the outcome of an exchange with it.
    struct Peer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var payload = StreamTests.question
        var byteLimit = 65_537
        var limit = Duration.seconds(20)
        let end: StreamOutcome.End
        let bytes: [UInt8]
        let serve: @Sendable (LabStream) -> Void

        private static let slow = [UInt8](repeating: 1, count: 300) + [UInt8(ascii: "!")]

        static let all = [
            Peer(testDescription: "sends single bytes", end: .answered, bytes: slow) { stream in
                for byte in slow { stream.send([byte]) }
                stream.waitForEnd()
            },
            Peer(
                testDescription: "sends without end",
                byteLimit: 100_000,
                end: .tooLong,
                bytes: [UInt8](repeating: 7, count: 100_000)
            ) { stream in while stream.send([UInt8](repeating: 7, count: 10_000)) {} },
            Peer(testDescription: "closes too early", end: .closed, bytes: Array("to".utf8)) { stream in
                _ = stream.receive()
                stream.send(Array("to".utf8))
            },
            Peer(testDescription: "resets", end: .failed(.connectionReset), bytes: []) { stream in
                _ = stream.receive()
                stream.reset()
            },
            Peer(testDescription: "sends nothing", limit: .seconds(1), end: .silent, bytes: []) { $0.waitForEnd() },
            Peer(
                testDescription: "does not read",
                payload: [UInt8](repeating: 1, count: 32 << 20),
                end: .answered,
                bytes: [UInt8(ascii: "!")]
            ) { stream in
                stream.send([UInt8(ascii: "!")])
                stream.waitForReset()
            },
        ]
    }

    @Test(arguments: Peer.all)
    func `an exchange ends at the answer or at a fault of the peer`(peer: Peer) async throws {
        var request = try request(limit: peer.limit)
        (request.payload, request.byteLimit) = (peer.payload, peer.byteLimit)
        let outcome = try await exchange(request, peer.serve)
        #expect(outcome.end == peer.end)
        #expect(outcome.bytes == peer.bytes)
        #expect(outcome.connected != nil && (outcome.firstByte == nil) == peer.bytes.isEmpty)
    }

    @Test func `a failed connection is reported`() async throws {
        try await Chain.run { chain, engine in
            let closed = await engine.connect(try request())
            try #require(closed.end == .failed(.connectionRefused) && closed.connected == nil, "\(closed)")
            let hole = await engine.connect(try request("198.51.100.66", limit: .milliseconds(300)))
            try #require(hole.end == .silent && hole.connected == nil, "\(hole)")
            let prohibited = await engine.connect(try request("198.51.100.1"))
            guard case .error = prohibited.end else {
                Issue.record("\(prohibited)")
                return
            }
            #expect(prohibited.errors.last?.offender == WireAddress("10.1.0.1"))
            try await chain.expectNoSockets()
        }
    }

    @Test func `a cancelled exchange leaves no socket`() async throws {
        try await Chain.run { chain in
            let isAsked = Locked(false)
            let server = try Self.server(in: chain) { connection in
                _ = connection.receive()
                isAsked.withLock { $0 = true }
                connection.waitForEnd()
            }
            defer { server.stop() }
            let engine = try chain.engine()
            let request = try request(limit: .seconds(60))
            let task = Task { await engine.connect(request) }
            try await waitUntil { isAsked.withLock { $0 } }
            task.cancel()
            let outcome = await task.value
            try #require(outcome.end == .cancelled, "\(outcome)")
            #expect(outcome.connected != nil)
            try await chain.expectNoSockets()
        }
    }

    /// The test fills the table of descriptors, which takes too long if the limit is very large.
    private static let canRunOut = (1...100_000).contains(sysconf(CInt(_SC_OPEN_MAX)))

    @Test(.enabled(if: canRunOut, "too many files may be opened here"))
    func `an exchange waits if no descriptor is available`() async throws {
        try await Chain.run { chain in
            let engine = try SocketEngine { () throws(SocketError) in
                do {
                    try chain.pc.enter()
                    try LabThread.leaveDescriptors(2)
                } catch {
                    throw SocketError(.enterNamespace("pc"), .notPermitted)
                }
            }
            let request = try request("198.51.100.66", limit: .milliseconds(300))
            let outcomes = await simultaneously(6) { await engine.connect(request) }
            #expect(outcomes.count { $0.end == .silent } == 6, "\(outcomes)")
        }
    }
}

/// The state of a datagram request, without a socket and with simulated time.
struct ExchangeTests {
    private let address = SocketEndpoint(WireAddress(ipv4: 0x0a01_0001), port: 53)

    private func exchange(_ change: (inout DatagramRequest) -> Void = { _ in }) -> Exchange {
        var request = DatagramRequest(
            to: address,
            .payload([1]),
            tries: [.zero, .milliseconds(700), .milliseconds(1_500)],
            limit: .seconds(3)
        )
        change(&request)
        return Exchange(request, begun: .seconds(100), local: nil)
    }

    private func at(_ milliseconds: Int) -> Duration { .seconds(100) + .milliseconds(milliseconds) }

    /// Returns a time of the clock of the timestamps.
    private func clock(_ milliseconds: Int) -> Duration { .seconds(1_700_000_000) + .milliseconds(milliseconds) }

    private func control(_ milliseconds: Int) -> ControlMessages {
        var bytes = ControlBytes()
        let parts = clock(milliseconds).components
        bytes.addTime(seconds: Int(parts.seconds), nanoseconds: Int(parts.attoseconds / 1_000_000_000))
        return bytes.bytes.withUnsafeBytes { ControlMessages($0) }
    }

    private func begin(_ exchange: inout Exchange, _ milliseconds: Int) {
        let isDue = exchange.beginTry(at: at(milliseconds))
        #expect(isDue)
    }

    private func leaveOut(_ exchange: inout Exchange, _ milliseconds: Int) {
        let isDue = exchange.beginTry(at: at(milliseconds))
        #expect(!isDue)
    }

    private func answer(_ exchange: inout Exchange, _ milliseconds: Int, stamped: Int? = nil, to number: Int? = nil) {
        exchange.noteAnswer(
            from: address,
            [2],
            isTruncated: false,
            control: control(stamped ?? milliseconds),
            to: number,
            at: at(milliseconds)
        )
    }

    @Test func `attempts are sent at their times and the request ends at its timeout`() {
        var exchange = exchange()
        var sent: [Int] = []
        var now = 0
        while exchange.outcome(at: at(now)) == nil {
            while exchange.beginTry(at: at(now)) {
                _ = exchange.noteSent(at: at(now), time: clock(now))
                sent.append(now)
            }
            let next = exchange.nextMoment - .seconds(100)
            now = Int(next.components.seconds) * 1_000 + Int(next.components.attoseconds / 1_000_000_000_000_000)
        }
        #expect(sent == [0, 700, 1_500])
        #expect(now == 3_000)
        #expect(exchange.outcome(at: at(now))?.end == .silent)
        #expect(exchange.outcome(at: at(now))?.sent == 3)
        #expect(exchange.outcome(at: at(now))?.duration == .seconds(3))
    }

    @Test func `the round-trip time is the difference of the kernel timestamps`() throws {
        var exchange = exchange()
        begin(&exchange, 0)
        let number = exchange.noteSent(at: at(0), time: clock(0))
        exchange.noteStamp(clock(3), of: number)
        answer(&exchange, 20, stamped: 15)
        let outcome = try #require(exchange.outcome(at: at(20)))
        #expect(outcome.end == .answered)
        #expect(outcome.answers.first?.timing == ReplyTiming(elapsed: .milliseconds(20), roundTrip: .milliseconds(12)))
    }

    @Test func `inconsistent timestamps result in no round-trip time`() {
        for (sent, received) in [(3, 2), (3, 90_000), (-5, 15)] {
            var exchange = exchange()
            begin(&exchange, 0)
            exchange.noteStamp(clock(sent), of: exchange.noteSent(at: at(0), time: clock(0)))
            answer(&exchange, 20, stamped: received)
            let timing = exchange.outcome(at: at(20))?.answers.first?.timing
            #expect(timing == ReplyTiming(elapsed: .milliseconds(20), roundTrip: nil))
        }
    }

    @Test func `with several datagrams the round-trip time requires the number of the answered one`() {
        for (number, expected) in [(nil, nil), (1, Duration.milliseconds(50)), (0, .milliseconds(750))] {
            var exchange = exchange()
            for now in [0, 700] {
                begin(&exchange, now)
                exchange.noteStamp(clock(now), of: exchange.noteSent(at: at(now), time: clock(now)))
            }
            answer(&exchange, 750, to: number)
            #expect(exchange.outcome(at: at(750))?.answers.first?.timing.roundTrip == expected)
        }
    }

    @Test func `a refusal ends the request immediately but a full buffer only at the timeout`() {
        for (cause, ends) in [(SystemError.notPermitted, 0), (.noBufferSpace, 3_000)] {
            var exchange = exchange()
            begin(&exchange, 0)
            let error = SocketError(.send(address), cause)
            exchange.noteFailure(error)
            #expect((exchange.outcome(at: at(0)) == nil) == (ends > 0))
            #expect(exchange.outcome(at: at(ends))?.end == .notSent(error))
        }
    }

    @Test func `a forbidden attempt is skipped and a request without attempts ends`() {
        let isFree = Locked(false)
        var exchange = exchange { $0.maySend = { isFree.withLock { $0 } } }
        for now in [0, 700] {
            leaveOut(&exchange, now)
            #expect(exchange.outcome(at: at(now)) == nil)
        }
        var other = exchange
        leaveOut(&other, 1_500)
        #expect(other.outcome(at: at(1_500))?.end == .withheld)
        isFree.withLock { $0 = true }
        begin(&exchange, 1_500)
        _ = exchange.noteSent(at: at(1_500), time: clock(1_500))
        #expect(exchange.outcome(at: at(1_500)) == nil)
        #expect(exchange.outcome(at: at(3_000))?.end == .silent)
    }

    @Test func `the number of recorded answers is limited`() {
        var exchange = exchange { $0.accepts = { $0 == [9] } }
        begin(&exchange, 0)
        _ = exchange.noteSent(at: at(0), time: clock(0))
        for _ in 0..<1_000 { answer(&exchange, 1) }
        #expect(exchange.outcome(at: at(1)) == nil)
        // The accepted answer is recorded anyway.
        exchange.noteAnswer(from: address, [9], isTruncated: false, control: control(2), to: nil, at: at(2))
        let outcome = exchange.outcome(at: at(2))
        #expect(outcome?.end == .answered)
        #expect(outcome?.answers.count == 17)
    }
}
