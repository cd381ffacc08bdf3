import Glibc
import NetworkLab
import Testing

@testable import LinuxSupport

/// The outcomes of requests with and without an answer.
@Suite(.enabled(if: getuid() == 0))
struct EngineTests {
    private func request(_ host: String, _ content: DatagramRequest.Content) throws -> DatagramRequest {
        DatagramRequest(
            to: try SocketEndpoint(host, port: EchoServer.port),
            content,
            tries: [.zero, .seconds(1)],
            limit: .patience
        )
    }

    @Test(arguments: Chain.hosts)
    func `a datagram is answered`(host: String) async throws {
        try await Chain.run { chain, engine in
            var request = try request(host, .payload(Array("echo".utf8)))
            let outcome = await engine.send(request)
            #expect(outcome.end == .answered)
            let answer = try #require(outcome.answers.first)
            #expect(answer.payload == Array("echo".utf8))
            #expect(answer.sender == request.endpoint)
            #expect(answer.hopLimit == 62)
            #expect(answer.isAccepted)
            #expect(outcome.local?.address == WireAddress(host.contains(":") ? "fd01::2" : "10.1.0.2"))
            // The kernel's timestamps are between the times of the engine.
            if let roundTrip = answer.timing.roundTrip { #expect(roundTrip <= answer.timing.elapsed) }

            request.accepts = { _ in false }
            request.tries = [.zero, .milliseconds(20)]
            request.limit = .seconds(3)
            let refused = await engine.send(request)
            #expect(refused.end == .silent)
            #expect(refused.sent == 2)
            #expect(refused.answers.count == 2)
            #expect(refused.answers.allSatisfy { !$0.isAccepted })
        }
    }

    @Test(arguments: Chain.hosts)
    func `jobs that start together end independently`(host: String) async throws {
        try await Chain.run { chain, engine in
            let (ends, ended) = AsyncStream.makeStream(of: (Int, Bool).self)
            let open = StreamRequest(to: try SocketEndpoint(host, port: EchoServer.port), limit: .patience)
            var silent = try request(host, .payload([1]))
            (silent.accepts, silent.limit) = ({ _ in false }, .seconds(600))
            let numbers = engine.begin([
                .datagram(try request(host, .echo(size: 16))) { ended.yield((0, $0.end == .answered)) },
                .stream(open) { ended.yield((1, $0.isConnected)) },
                .datagram(silent) { ended.yield((2, $0.end == .cancelled)) },
            ])
            var seen: [Int] = []
            for await (number, isExpected) in ends {
                #expect(isExpected)
                seen.append(number)
                if seen.count == 2 { engine.cancel(numbers.upperBound - 1) }
                if seen.count == 3 { ended.finish() }
            }
            #expect(Set(seen.prefix(2)) == [0, 1] && seen.last == 2)
            // A job that has ended cannot be cancelled.
            engine.cancel(numbers.lowerBound)
            try await chain.expectNoSockets()
        }
    }

    /// Otherwise a thread that Dispatch starts for the callback would stay in the namespace and run other work there.
    @Test func `callbacks run outside the namespace of the engine`() async throws {
        try await Chain.run { chain, engine in
            let outside = try NamespaceIdentity(path: "/proc/self/ns/net")
            func place(_ job: (@escaping @Sendable () -> Void) -> EngineJob, isCancelled: Bool = false) async throws {
                let place = await withCheckedContinuation { continuation in
                    let jobs = engine.begin([
                        job { continuation.resume(returning: try? NamespaceIdentity(path: "/proc/thread-self/ns/net")) }
                    ])
                    if isCancelled { engine.cancel(jobs.lowerBound) }
                }
                #expect(place == outside)
            }
            let echo = try request(Chain.hosts[0], .echo(size: 16))
            try await place { tell in .datagram(echo) { _ in tell() } }
            let open = StreamRequest(to: echo.endpoint, limit: .patience)
            try await place { tell in .stream(open) { _ in tell() } }
            try await place({ tell in .stream(open) { _ in tell() } }, isCancelled: true)
            var refused = open
            refused.settings.interface = "missing"
            try await place { tell in .stream(refused) { _ in tell() } }
        }
    }

    @Test(arguments: Chain.hosts)
    func `open, closed and silent ports are distinguished`(host: String) async throws {
        try await Chain.run { chain, engine in
            let open = await engine.connect(
                StreamRequest(to: try SocketEndpoint(host, port: EchoServer.port), limit: .patience)
            )
            #expect(open.isConnected)
            #expect(open.information?.roundTrip != nil)
            #expect(open.information?.pathMTU == 1500)
            #expect(open.errors.isEmpty)

            let closed = await engine.connect(StreamRequest(to: try SocketEndpoint(host, port: 9), limit: .patience))
            #expect(closed.isRefused)
            #expect(closed.errors.isEmpty)

            let hole = host.contains(":") ? "fd98::66" : "198.51.100.66"
            let silent = await engine.connect(
                StreamRequest(to: try SocketEndpoint(hole, port: 80), limit: .milliseconds(100))
            )
            #expect(silent.end == .silent, "\(silent)")
            try await chain.expectNoSockets()
        }
    }

    @Test func `a link-local address requires its interface`() async throws {
        try await Chain.run { chain in
            let index = try await chain.pc.perform { if_nametoindex("p0") }
            // The kernel installs an address in the background. Until then it forwards packets to it.
            try await waitUntil {
                try chain.router.run("ip", ["-6", "route", "show", "table", "local", "fe80::1"]).output.contains("r0")
            }
            let engine = try chain.engine()
            let router = try #require(WireAddress("fe80::1"))
            let endpoint = SocketEndpoint(router, port: 9, interfaceIndex: index)
            let echo = await engine.send(DatagramRequest(to: endpoint, .echo(size: 8), limit: .patience))
            #expect(echo.end == .answered, "\(echo)")
            #expect(echo.answers.first?.sender.address == router)
            let datagram = await engine.send(DatagramRequest(to: endpoint, .payload([1]), limit: .patience))
            #expect(datagram.errors.first?.message.offender == router, "\(datagram)")
            #expect(await engine.connect(StreamRequest(to: endpoint, limit: .patience)).isRefused)
        }
    }

    @Test func `many connections share few descriptors`() async throws {
        try await Chain.run(EngineLimits(descriptors: 16)) { chain, engine in
            let endpoint = try SocketEndpoint(Chain.hosts[1], port: EchoServer.port)
            let outcomes = await simultaneously(200) {
                await engine.connect(StreamRequest(to: endpoint, limit: .patience))
            }
            #expect(outcomes.count { $0.isConnected && $0.information?.roundTrip != nil } == 200)
            try await chain.expectNoSockets()
        }
    }

    @Test func `an open connection can be taken`() async throws {
        try await Chain.run { chain, engine in
            var request = StreamRequest(
                to: try SocketEndpoint(Chain.hosts[0], port: EchoServer.port),
                settings: SocketSettings(maximumSegment: 1200),
                limit: .patience
            )
            request.finalAction = .keep
            let outcome = await engine.connect(request)
            let connection = try #require(outcome.connection, "\(outcome)")
            #expect(outcome.local?.address == WireAddress("10.1.0.2"))
            let segment = try #require(connection.information).sendSegmentSize
            #expect((1100...1200).contains(segment))
            try await waitUntil { try await chain.openSockets() == 1 }
            guard let descriptor = connection.take() else {
                Issue.record("there is no descriptor")
                return
            }
            #expect(connection.information == nil)
            if connection.take() != nil { Issue.record("the descriptor was taken twice") }
            // The descriptor is still open. EchoServer has closed its end.
            var byte: UInt8 = 0
            let number = descriptor.number
            let ready = try await LabThread.detached {
                var event = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
                return poll(&event, 1, 60_000)
            }
            #expect(ready == 1)
            #expect(read(descriptor.number, &byte, 1) == 0)
        }
    }

    @Test(arguments: Chain.hosts)
    func `1,000 echoes are answered and each has a kernel timestamp`(host: String) async throws {
        try await Chain.run { chain, engine in
            let request = try request(host, .echo(size: 56))
            // The kernel records timestamps only while a socket has requested them, and starts with a delay.
            let hole = host.contains(":") ? "fd98::66" : "198.51.100.66"
            let endless = DatagramRequest(to: try SocketEndpoint(hole), .echo(size: 8), limit: .seconds(600))
            let holder = Task { await engine.send(endless) }
            defer { holder.cancel() }
            try await waitUntil { await engine.send(request).answers.first?.timing.roundTrip != nil }
            let outcomes = await simultaneously(1_000) { await engine.send(request) }
            #expect(outcomes.count { $0.end == .answered } == 1_000)
            #expect(outcomes.allSatisfy { $0.answers.first?.payload.count == 56 })
            #expect(outcomes.allSatisfy { $0.answers.first?.hopLimit == 62 })
            #expect(outcomes.count { $0.answers.first?.timing.roundTrip != nil } == 1_000)
            holder.cancel()
            try await chain.expectNoSockets()
        }
    }

    @Test func `waiting echoes start as soon as others end`() async throws {
        try await Chain.run(EngineLimits(echoes: 7)) { chain, engine in
            // No request waits for the timeout of another.
            let request = DatagramRequest(to: try SocketEndpoint(Chain.hosts[0]), .echo(size: 8), limit: .seconds(600))
            let outcomes = await simultaneously(100) { await engine.send(request) }
            #expect(outcomes.count { $0.end == .answered } == 100)
        }
    }

    @Test func `a cancelled request ends and closes its socket`() async throws {
        try await Chain.run(EngineLimits(descriptors: 2)) { chain, engine in
            var requests = [DatagramRequest.Content.payload([0]), .echo(size: 8)].map { content in
                DatagramRequest(
                    to: SocketEndpoint(WireAddress(ipv4: 0xc633_6442), port: 9),
                    content,
                    limit: .seconds(600)
                )
            }
            // There are more requests than descriptors, so some are cancelled while they wait.
            requests += [requests[0], requests[0]]
            let connection = StreamRequest(to: requests[0].endpoint, limit: .seconds(600))
            let sending = requests.map { request in Task { await engine.send(request) } }
            let connecting = Task { await engine.connect(connection) }
            try await waitUntil { try await chain.openSockets() == 2 }
            connecting.cancel()
            for task in sending { task.cancel() }
            for task in sending { #expect(await task.value.end == .cancelled) }
            #expect(await connecting.value.end == .cancelled)
            try await chain.expectNoSockets()
            // A request that is cancelled before its start.
            let late = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await engine.send(requests[0])
            }
            #expect(await late.value.end == .cancelled)
        }
    }

    @Test func `releasing an engine cancels its requests`() async throws {
        try await Chain.run { chain in
            var engine: SocketEngine? = try chain.engine()
            let request = DatagramRequest(
                to: try SocketEndpoint("198.51.100.66", port: 9),
                .payload([0]),
                limit: .seconds(600)
            )
            let outcome = try await withThrowingTaskGroup { group in
                group.addTask { [weak engine] in
                    guard let inbox = engine?.inbox else { throw LabError("no engine") }
                    return await withCheckedContinuation { continuation in
                        let job = EngineJob.datagram(request) { continuation.resume(returning: $0) }
                        _ = inbox.add(.start(inbox.nextOperations().lowerBound, job))
                    }
                }
                try await waitUntil { try await chain.openSockets() == 1 }
                engine = nil
                return try await group.next() as DatagramOutcome?
            }
            #expect(outcome?.end == .cancelled)
            try await chain.expectNoSockets()
        }
    }

    @Test func `the limit of descriptors is not exceeded`() async throws {
        try await Chain.run(EngineLimits(descriptors: 4)) { chain, engine in
            let hole = try SocketEndpoint("198.51.100.66", port: 9)
            let outcomes = await simultaneously(20) {
                await engine.send(DatagramRequest(to: hole, .payload([0]), limit: .milliseconds(50)))
            }
            #expect(outcomes.count == 20)
            #expect(outcomes.allSatisfy { $0.end == .silent && $0.sent == 1 })
            // At the start of each request at most three others were in progress.
            for outcome in outcomes {
                let others = outcomes.count {
                    $0.begun <= outcome.begun && outcome.begun < $0.begun + $0.duration
                }
                #expect(others <= 4)
            }
        }
    }
}
