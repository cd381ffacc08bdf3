import AsyncHTTPClient
import Foundation
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityOutbox
@testable import ReachabilityRetry

/// An outbox whose requests are sent by async-http-client.
@Suite(.timeLimit(.minutes(15))) struct OutboxSenderTests {
    private let lab = HTTPLab()

    @Test func `a delivered request is deleted, and the adapter's credentials are never in the file`() async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                try await outbox.enqueue(Self.post(server.url("/path?a=1"), body: "text"))
                let events = try await flush(outbox, adapter: Token("Bearer hush"), files: true)
                #expect(events.first?.delivered != nil, "\(events)")
                #expect(try await outbox.entries().isEmpty)
                let sight = try #require(server.received.first)
                #expect(sight.method == "POST" && sight.bodyText == "text")
                #expect(sight.fields["authorization"] == "Bearer hush")
                #expect(sight.fields["idempotency-key"]?.utf8.count == 32)
                #expect(sight.fields["content-length"] == "4")
            }
        }
    }

    @Test(arguments: [301, 302, 307, 401, 407, 511])
    func `a response that may be from a gateway keeps the request and is not an attempt`(
        status: Int
    ) async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                try await outbox.enqueue(Self.post(server.url(), .redirect(status, to: server.url("/elsewhere"))))
                for _ in 0..<2 {
                    let events = try await flush(outbox)
                    let entry = try #require(events.first?.held, "\(events)")
                    #expect(entry.attempts == 0 && entry.lastError?.contains("status \(status)") == true)
                }
                #expect(server.received.count == 2, "a redirect was followed")
                #expect(try await outbox.deadLetters().isEmpty)
            }
        }
    }

    /// Sends once to a server that has the name of a remote host. Returns the events.
    private func portal(
        _ outbox: Outbox,
        proof: DeliveryProof? = nil,
        unassigned: [String] = [],
        names: [String] = []
    ) async throws -> [OutboxEvent] {
        let coordinator = HTTPLab(reachability: PlayedNetwork(unassigned: unassigned)).coordinator
        var configuration = HTTPLab.configuration
        configuration.dnsOverride = ["api.example": "127.0.0.1"]
        for name in names { configuration.dnsOverride[name] = "127.0.0.1" }
        let events = Locked<[OutboxEvent]>([])
        try await withClient(configuration) { client in
            var sender = HTTPOutboxSender(client: client, proof: proof, coordinator: coordinator)
            sender.makeName = { "absent" }
            try await outbox.flush(sender: sender, coordinator: coordinator) { event in
                events.withLock { $0.append(event) }
            }
        }
        return events.withLock(\.self)
    }

    @Test func `a success over http that may be from a captive portal keeps the request`() async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                let url = server.url().replacing("127.0.0.1", with: "api.example")
                try await outbox.enqueue(Self.post(url))
                let entry = try #require(try await portal(outbox).first?.held)
                #expect(
                    entry.attempts == 0 && entry.lastError?.contains("a URL that does not exist has status 200") == true
                )
                #expect(server.received.count == 2 && server.received.last?.bodyText == "")
                #expect(try await portal(outbox, proof: .status(201)).first?.held != nil)
                #expect(try await portal(outbox, proof: .body("no such text")).first?.held != nil)
                let field = RequestHead.Field(name: "X-Service", value: "orders")
                #expect(try await portal(outbox, proof: .header(field)).first?.held != nil)
                #expect(try await outbox.entries().count == 1)
                #expect(try await portal(outbox, proof: .status(200)).first?.delivered != nil)
                #expect(try await outbox.entries().isEmpty)
            }
        }
    }

    /// 127.9.9.9 refuses connections, like an unassigned address.
    @Test(arguments: [
        (["127.9.9.9"], [], nil),
        (["127.9.9.9", "127.0.0.1"], [], "status 200, but the nonexistent host 127.0.0.1 responds too"),
        (["127.9.9.9"], ["absent.example"], "status 200, but the nonexistent host absent.example responds too"),
        ([], [], "a URL that does not exist has status 200"),
    ])
    func `an answer over http is accepted if no server answers for nonexistent hosts`(
        unassigned: [String],
        names: [String],
        cause: String?
    ) async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                try await outbox.enqueue(Self.post(server.url().replacing("127.0.0.1", with: "api.example")))
                let event = try #require(try await portal(outbox, unassigned: unassigned, names: names).first)
                if let cause {
                    #expect(event.held?.lastError?.contains(cause) == true && event.held?.attempts == 0, "\(event)")
                } else {
                    #expect(event.delivered != nil, "\(event)")
                }
                #expect(try await outbox.entries().count == (cause == nil ? 0 : 1))
            }
        }
    }

    @Test(arguments: [403, 404, 410, 422], [true, false])
    func `a refusal over http is final if no server answers for nonexistent hosts`(
        status: Int,
        isPortal: Bool
    ) async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                let url = server.url().replacing("127.0.0.1", with: "api.example")
                try await outbox.enqueue(Self.post(url, .answer(status)))
                let unassigned = [isPortal ? "127.0.0.1" : "127.9.9.9"]
                let event = try #require(try await portal(outbox, unassigned: unassigned).first)
                if isPortal {
                    let cause = "status \(status), but the nonexistent host 127.0.0.1 responds too"
                    #expect(event.held?.lastError?.contains(cause) == true && event.held?.attempts == 0, "\(event)")
                } else {
                    #expect(event.rejected == "status \(status)", "\(event)")
                }
                #expect(try await outbox.deadLetters().count == (isPortal ? 0 : 1))
            }
        }
    }

    @Test(arguments: [
        ("https://h.example/", nil), ("http://127.0.0.1:80/", nil), ("http://[::1]/", nil), ("http://LOCALHOST/", nil),
        ("http://h.example:8080/a?b", "http://h.example:8080"), ("http://10.0.0.1/", "http://10.0.0.1"),
        ("http://127.0.0.1.example/", "http://127.0.0.1.example"),
    ])
    func `http to another machine is an unprotected origin`(url: String, origin: String?) {
        #expect(OutboxRequest("POST", url).unprotectedOrigin == origin)
    }

    @Test func `a rejected request becomes a dead letter and is sent with the same key when requeued`() async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                try await outbox.enqueue(Self.post(server.url(), .answer(404)))
                let events = try await flush(outbox)
                #expect(events.first?.rejected == "status 404", "\(events)")
                #expect(try await outbox.deadLetters().map(\.lastError) == ["status 404"])
                #expect(try await outbox.requeue(1))
                try await flush(outbox, adapter: Token("new", fault: .answer(204)))
                #expect(try await outbox.deadLetters().isEmpty)
                #expect(try await outbox.entries().isEmpty)
                #expect(server.received.count == 2)
                #expect(Set(server.received.map { $0.fields["idempotency-key"] }).count == 1)
            }
        }
    }

    @Test(arguments: [
        Fault.refuse, .hang, .closeAfterBody, .resetAfterBody, .garbage, .answer(503), .answer(429),
    ]) func `a temporary failure counts as one attempt`(fault: Fault) async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                try await outbox.enqueue(Self.post(server.url()))
                let limit: Duration = fault == .hang ? .milliseconds(300) : .seconds(60)
                let events = try await flush(outbox, adapter: Token("any", fault: fault), limit: limit)
                let entry = try #require(events.first?.postponed, "\(events)")
                #expect(entry.attempts == 1 && entry.lastError?.isEmpty == false)
                // On a busy machine the timeout may elapse before the server has received the request.
                let counts = fault == .refuse ? 0...0 : fault == .hang ? 0...1 : 1...1
                #expect(counts.contains(server.received.count))
            }
        }
    }

    @Test func `Retry-After is stored with the request`() async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                try await outbox.enqueue(Self.post(server.url(), .answer(503, retryAfter: "90")))
                try await flush(outbox)
                let entry = try #require(try await outbox.entries().first)
                let wait = try #require(entry.notBefore) - SystemClock.real
                #expect(wait > .seconds(1) && wait <= .seconds(90))
            }
        }
    }

    @Test func `a request to an unreachable host waits and is sent at once when the host is reachable`() async throws {
        let reachability = PlayedNetwork()
        reachability.set(reachable: false)
        let lab = HTTPLab(reachability: reachability)
        try await withFaultServer { server in
            try await withOutbox { outbox in
                try await outbox.enqueue(Self.post(server.url()))
                let events = try await flush(outbox, coordinator: lab.coordinator)
                #expect(events.first?.isSkipped == true, "\(events)")
                try await withClient { client in
                    let sender = HTTPOutboxSender(client: client, coordinator: lab.coordinator)
                    let (delivered, tell) = AsyncStream.makeStream(of: OutboxEvent.self)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            try await outbox.run(sender: sender, coordinator: lab.coordinator) { tell.yield($0) }
                        }
                        while lab.coordinator.waitingCount(for: "127.0.0.1") == 0, !Task.isCancelled {
                            try? await Task.sleep(for: .milliseconds(1))
                        }
                        #expect(try await outbox.entries().map(\.attempts) == [0])
                        #expect(server.received.isEmpty)
                        reachability.set(reachable: true)
                        for await event in delivered {
                            #expect(event.delivered?.attempts == 1, "\(event)")
                            break
                        }
                        group.cancelAll()
                        try await group.waitForAll()
                    }
                }
                #expect(server.received.count == 1)
            }
        }
    }

    @Test func `an error of the adapter keeps the request and does not reveal secrets`() async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                try await outbox.enqueue(Self.post(server.url()))
                let adapter = Adapter { _, completion in completion(.failure(Refused(secret: "hush"))) }
                let events = try await flush(outbox, adapter: adapter)
                let entry = try #require(events.first?.held, "\(events)")
                #expect(entry.lastError == "the adapter failed: Refused")
                #expect(entry.attempts == 0 && server.received.isEmpty)
            }
        }
    }

    @Test func `a server with an invalid certificate receives nothing`() async throws {
        let server = try await SecureServer([])
        try await withOutbox { outbox in
            try await outbox.enqueue(Self.post(server.url))
            let events = try await flush(outbox)
            #expect(try #require(events.first?.held, "\(events)").attempts == 0 && server.streams == 0)
        }
        try await server.close()
    }

    /// Sends once, and returns the events.
    @discardableResult
    private func flush(
        _ outbox: Outbox,
        adapter: (any RequestAdapter)? = nil,
        limit: Duration = .seconds(60),
        coordinator: RetryCoordinator? = nil,
        files: Bool = false
    ) async throws -> [OutboxEvent] {
        let events = Locked<[OutboxEvent]>([])
        try await withClient { client in
            let coordinator = coordinator ?? lab.coordinator
            let sender = HTTPOutboxSender(client: client, adapter: adapter, limit: limit, coordinator: coordinator)
            try await outbox.flush(sender: Watching(sender, files ? outbox.file : nil), coordinator: coordinator) {
                event in
                events.withLock { $0.append(event) }
            }
        }
        return events.withLock { $0 }
    }

    private static func post(_ url: String, _ fault: Fault? = nil, body: String = "body") -> OutboxRequest {
        let headers = fault.map { [RequestHead.Field(name: "X-Fault", value: $0.text)] } ?? []
        return OutboxRequest("POST", url, headers: headers, body: Array(body.utf8))
    }

    private func withOutbox(_ body: (Outbox) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let outbox = try await Outbox(file: directory.path + "/outbox.sqlite")
        try await body(outbox)
        try await outbox.close()
    }
}

/// A sender that checks, between the response and the deletion of the request, that the files contain no secret.
private struct Watching: OutboxSender {
    private let sender: any OutboxSender
    private let file: String?

    init(_ sender: any OutboxSender, _ file: String?) {
        self.sender = sender
        self.file = file
    }

    func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        let result = await sender.send(delivery)
        for name in file.map({ [$0, $0 + "-wal"] }) ?? [] {
            let bytes = FileManager.default.contents(atPath: name)
            #expect(bytes?.isEmpty == false && bytes?.range(of: Data("hush".utf8)) == nil)
        }
        return result
    }
}

/// An adapter that adds a token and a fault.
private struct Token: RequestAdapter {
    private let value: String
    private let faults: FaultAdapter

    init(_ value: String, fault: Fault? = nil) {
        self.value = value
        faults = FaultAdapter(fault.map { [$0] } ?? [], id: "")
    }

    func adapt(_ request: RequestHead) async throws -> RequestHead {
        var request = try await faults.adapt(request)
        request["Authorization"] = value
        return request
    }
}

extension OutboxEvent {
    fileprivate var delivered: OutboxEntry? { if case .delivered(let entry) = self { entry } else { nil } }
    fileprivate var held: OutboxEntry? { if case .held(let entry) = self { entry } else { nil } }
    fileprivate var postponed: OutboxEntry? { if case .postponed(let entry) = self { entry } else { nil } }
    fileprivate var isSkipped: Bool { if case .skipped(_, _, .notReachable) = self { true } else { false } }
    fileprivate var rejected: String? { if case .rejected(_, let reason) = self { reason } else { nil } }
}

private struct Refused: Error {
    let secret: String
}
