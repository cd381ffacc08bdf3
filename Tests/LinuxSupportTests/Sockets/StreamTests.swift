import Glibc
import NetworkLab
import Testing

@testable import LinuxSupport

/// Exchanges over TCP, with peers that do what they should, and with others.
@Suite(.enabled(if: getuid() == 0))
struct StreamTests {
    private static let question = Array("question".utf8)

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

    /// The outcome of an exchange with a server that does this with it.
    private func exchange(
        _ request: StreamRequest,
        _ serve: @escaping @Sendable (LabStream) -> Void
    ) async throws -> StreamOutcome {
        let result = Locked<StreamOutcome?>(nil)
        try await Chain.run { chain in
            let server = try Self.server(in: chain) { serve($0.stream) }
            defer { server.stop() }
            let outcome = await (try chain.engine()).exchange(request)
            result.withLock { $0 = outcome }
            try await chain.expectNoSockets()
        }
        return try #require(result.withLock { $0 })
    }

    @Test(arguments: Chain.hosts)
    func `a question is answered`(host: String) async throws {
        let outcome = try await exchange(try request(host)) { stream in
            stream.send(Array("to \(String(decoding: stream.receive(), as: UTF8.self))!".utf8))
            stream.waitForEnd()
        }
        guard case .answered = outcome.end else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.bytes == Array("to question!".utf8))
        let (connected, first) = (try #require(outcome.connected), try #require(outcome.firstByte))
        #expect(connected <= first && first <= outcome.duration)
        let sent = try #require(outcome.sent)
        #expect(connected <= sent && sent <= first && outcome.handshake != nil)
        #expect(outcome.information?.roundTrip != nil && outcome.errors.isEmpty)
        #expect(outcome.local?.address == WireAddress(host.contains(":") ? "fd01::2" : "10.1.0.2"))
    }

    @Test
    func `an answer comes byte by byte`() async throws {
        let answer = Array(String(repeating: "a", count: 300).utf8) + [UInt8(ascii: "!")]
        let outcome = try await exchange(try request()) { stream in
            for byte in answer { stream.send([byte]) }
            stream.waitForEnd()
        }
        guard case .answered = outcome.end else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.bytes == answer)
    }

    @Test
    func `an answer without end is cut`() async throws {
        var request = try request()
        request.byteLimit = 100_000
        let outcome = try await exchange(request) { stream in
            let portion = [UInt8](repeating: 7, count: 10_000)
            while stream.send(portion) {}
        }
        guard case .tooLong = outcome.end else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.bytes.count == 100_000)
    }

    @Test
    func `a peer closes too early`() async throws {
        let outcome = try await exchange(try request()) { stream in
            _ = stream.receive()
            stream.send(Array("to".utf8))
        }
        guard case .closed = outcome.end else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.bytes == Array("to".utf8))
    }

    @Test
    func `a peer resets`() async throws {
        let outcome = try await exchange(try request()) { stream in
            _ = stream.receive()
            stream.reset()
        }
        guard case .failed(.connectionReset) = outcome.end else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.connected != nil)
    }

    @Test
    func `a peer says nothing`() async throws {
        let outcome = try await exchange(try request(limit: .seconds(1))) { $0.waitForEnd() }
        guard case .silent = outcome.end else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.connected != nil && outcome.firstByte == nil)
    }

    @Test
    func `a peer that does not read still answers`() async throws {
        var request = try request()
        request.payload = [UInt8](repeating: 1, count: 32 << 20)
        let outcome = try await exchange(request) { stream in
            stream.send([UInt8(ascii: "!")])
            stream.waitForReset()
        }
        guard case .answered = outcome.end else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.bytes == [UInt8(ascii: "!")])
    }

    @Test
    func `no connection comes about`() async throws {
        try await Chain.run { chain in
            let engine = try chain.engine()
            let closed = await engine.exchange(try request())
            guard case .failed(.connectionRefused) = closed.end, closed.connected == nil else {
                Issue.record("\(closed)")
                return
            }
            let hole = await engine.exchange(try request("198.51.100.66", limit: .milliseconds(300)))
            guard case .silent = hole.end, hole.connected == nil else {
                Issue.record("\(hole)")
                return
            }
            let prohibited = await engine.exchange(try request("198.51.100.1"))
            guard case .error = prohibited.end else {
                Issue.record("\(prohibited)")
                return
            }
            #expect(prohibited.errors.last?.offender == WireAddress("10.1.0.1"))
            try await chain.expectNoSockets()
        }
    }

    @Test
    func `a cancelled exchange leaves nothing`() async throws {
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
            let task = Task { await engine.exchange(request) }
            #expect(try await eventually { isAsked.withLock { $0 } })
            task.cancel()
            let outcome = await task.value
            guard case .cancelled = outcome.end else {
                Issue.record("\(outcome)")
                return
            }
            #expect(outcome.connected != nil)
            try await chain.expectNoSockets()
        }
    }

    /// A table of descriptors is filled, which takes too long where it is very large.
    private static let canRunOut = (1...100_000).contains(sysconf(CInt(_SC_OPEN_MAX)))

    @Test(.enabled(if: canRunOut, "too many files may be opened here"))
    func `without a descriptor to spare, an exchange waits`() async throws {
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
            let outcomes = await withTaskGroup { group in
                for _ in 0..<6 { group.addTask { await engine.exchange(request) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let silent = outcomes.count { if case .silent = $0.end { true } else { false } }
            #expect(silent == 6, "\(outcomes)")
        }
    }
}
