import LinuxSupport
import NIOCore
import NIOSSL
import NetworkLab
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge

/// Slow, blocking and concurrent evaluators.
@Suite struct EvaluationTests {
    private static func factory(
        _ evaluator: any ServerTrustEvaluating,
        limit: Duration = .seconds(60)
    ) throws -> ServerTrustHandlerFactory {
        try TrustClient.factory(TrustCase("") { $0.evaluator = evaluator }) { settings, _ in
            settings.evaluationTimeLimit = limit
        }
    }

    @Test(arguments: [true, false])
    func `an evaluation is cancelled after the time limit, and a later verdict is ignored`(isLate: Bool) async throws {
        let server = try ScriptedServer.greeting(World.leaf, World.intermediate)
        let evaluator = WaitingEvaluator(ignoresCancellation: isLate)
        let outcome = try await TrustClient.connect(
            try Self.factory(evaluator, limit: .milliseconds(1)),
            host: World.host,
            port: server.port
        )
        #expect(outcome.verdict == .refused(.timedOut(.milliseconds(1))))
        if isLate {
            evaluator.goOn.open()
            await evaluator.answered.wait()
        } else {
            await evaluator.cancelled.wait()
        }
        #expect(server.visits.map(\.isSecure) == [false])
        server.stop()
    }

    @Test func `closing the channel cancels the evaluation`() async throws {
        let server = try ScriptedServer.greeting(World.leaf, World.intermediate)
        let evaluator = WaitingEvaluator()
        let channel = Locked<(any Channel)?>(nil)
        async let connection = TrustClient.connect(
            try Self.factory(evaluator),
            host: World.host,
            port: server.port,
            onChannel: { new in channel.withLock { $0 = new } }
        )
        await evaluator.asked.wait()
        try? await channel.withLock { $0 }?.close().get()
        let outcome = try await connection
        #expect(outcome.otherError != nil, "\(outcome.handshake)")
        #expect(outcome.greeting == nil)
        await evaluator.cancelled.wait()
        server.stop()
    }

    @Test func `a server that closes the connection cancels the evaluation`() async throws {
        let evaluator = WaitingEvaluator()
        let server = try ScriptedServer.greeting(World.leaf, World.intermediate)
        async let connection = TrustClient.connect(try Self.factory(evaluator), host: World.host, port: server.port)
        await evaluator.asked.wait()
        server.closeConnections()
        let outcome = try await connection
        #expect(outcome.otherError is NIOSSLError, "\(outcome.handshake)")
        await evaluator.cancelled.wait()
        server.stop()
    }

    /// There are only as many of these threads as processors.
    @Test func `blocking evaluators do not block the threads of Swift's tasks`() async throws {
        let server = try ScriptedServer.greeting(World.leaf, World.intermediate)
        let count = 2 * System.coreCount
        let evaluator = BlockingEvaluator(count: count)
        let factory = try Self.factory(evaluator)
        let outcomes = try await withThrowingTaskGroup(of: TrustClient.Outcome.self) { group in
            for _ in 0..<count {
                group.addTask { try await TrustClient.connect(factory, host: World.host, port: server.port) }
            }
            await evaluator.allBlock.wait()
            evaluator.release()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.allSatisfy { $0.verdict == .trusted } && outcomes.count == count)
        #expect(evaluator.givenUp == 0)
        server.stop()
    }

    @Test func `nothing is sent before the verdict`() async throws {
        let server = try ScriptedServer.greeting(World.leaf, World.intermediate)
        let evaluator = WaitingEvaluator(ignoresCancellation: true)
        async let connection = TrustClient.connect(try Self.factory(evaluator), host: World.host, port: server.port)
        await evaluator.asked.wait()
        #expect(server.visits.map(\.isSecure) == [false])
        #expect(server.visits.map(\.received) == [""])
        evaluator.goOn.open()
        let outcome = try await connection
        #expect(outcome.verdict == .trusted)
        #expect(outcome.greeting == "hello")
        try outcome.written.get()
        server.stop()
    }

    @Test func `a refusal fails the handshake, the pipeline and pending writes`() async throws {
        let server = try ScriptedServer.greeting(World.strangeLeaf)
        let outcome = try await TrustClient.connect(
            try Self.factory(DefaultTrustEvaluator()),
            host: World.host,
            port: server.port
        )
        guard case .failure(let error as ServerTrustError) = outcome.handshake else {
            Issue.record("\(outcome.handshake)")
            return
        }
        #expect(error.host == World.host)
        #expect(error.chain.first?.derRepresentation == World.strangeLeaf.der)
        #expect(outcome.errors.compactMap { $0 as? ServerTrustError } == [error])
        #expect(outcome.errors.count == 1)
        #expect(throws: error) { try outcome.written.get() }
        server.stop()
    }

    @Test func `one factory serves concurrent handshakes`() async throws {
        let good = try ScriptedServer.greeting(World.leaf, World.intermediate)
        let bad = try ScriptedServer.greeting(World.strangeLeaf)
        let factory = try Self.factory(DefaultTrustEvaluator())
        let verdicts = try await withThrowingTaskGroup(of: (Bool, TrustCase.Verdict?).self) { group in
            for number in 0..<20 {
                let isGood = number.isMultiple(of: 2)
                let port = isGood ? good.port : bad.port
                group.addTask {
                    (isGood, try await TrustClient.connect(factory, host: World.host, port: port).verdict)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(verdicts.count == 20)
        #expect(verdicts.allSatisfy { ($0.1 == .trusted) == $0.0 })
        good.stop()
        bad.stop()
    }

    @Test func `each handshake is evaluated with its host and time`() async throws {
        let server = try ScriptedServer.greeting(World.leaf, World.intermediate)
        let time = Locked(World.now)
        let factory = try TrustClient.factory(TrustCase("") { _ in }) { _, configuration in
            configuration.now = { time.withLock { $0 } }
        }
        #expect(try await TrustClient.connect(factory, host: World.host, port: server.port).verdict == .trusted)
        #expect(
            try await TrustClient.connect(factory, host: "example.com", port: server.port).verdict
                == .refused(.hostMismatch(names: [World.host]))
        )
        time.withLock { $0 = World.ends.advanced(by: .seconds(1)) }
        let late = try await TrustClient.connect(factory, host: World.host, port: server.port).verdict
        #expect(late != nil && late != .trusted)
        server.stop()
    }
}
