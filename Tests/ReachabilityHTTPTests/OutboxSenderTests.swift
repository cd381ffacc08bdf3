import AsyncHTTPClient
import Foundation
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityOutbox
@testable import ReachabilityRetry

/// An outbox whose requests async-http-client sends.
@Suite(.timeLimit(.minutes(15))) struct OutboxSenderTests {
    private let lab: HTTPLab

    init() throws {
        lab = try HTTPLab()
    }

    @Test func `what is done is deleted, and the adapter's credentials were never in the file`() async throws {
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

    @Test(arguments: [301, 302, 307, 401, 407, 511]) func `what others answer lets it wait, and is no attempt`(
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

    /// A host beyond this machine, as far as the sender can tell.
    private func portal(
        _ outbox: Outbox,
        proof: DeliveryProof? = nil,
        unassigned: [String] = [],
        names: [String] = []
    ) async throws -> [OutboxEvent] {
        let coordinator = try HTTPLab(verdicts: PlayedNetwork(unassigned: unassigned)).coordinator
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

    @Test func `who answers every URL over http may be a portal, and its success deletes nothing`() async throws {
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
                let field = PlainRequest.Field(name: "X-Service", value: "orders")
                #expect(try await portal(outbox, proof: .header(field)).first?.held != nil)
                #expect(try await outbox.entries().count == 1)
                #expect(try await portal(outbox, proof: .status(200)).first?.delivered != nil)
                #expect(try await outbox.entries().isEmpty)
            }
        }
    }

    /// 127.9.9.9 refuses connections as an address that no host has.
    @Test(arguments: [
        (["127.9.9.9"], [], nil),
        (["127.9.9.9", "127.0.0.1"], [], "status 200, but the nonexistent host 127.0.0.1 responds too"),
        (["127.9.9.9"], ["absent.example"], "status 200, but the nonexistent host absent.example responds too"),
        ([], [], "a URL that does not exist has status 200"),
    ])
    func `a server that answers every URL over http has the request if no server answers for hosts that do not exist`(
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
    func `a refusal over http is final if no server answers for hosts that do not exist`(
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
    func `http beyond this machine proves nothing`(url: String, origin: String?) {
        #expect(OutboxRequest("POST", url).unprotectedOrigin == origin)
    }

    @Test func `what is refused is a dead letter, and goes with the same key when it is put in again`() async throws {
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
    ]) func `what may get better counts as an attempt, of which there is one at a time`(fault: Fault) async throws {
        try await withFaultServer { server in
            try await withOutbox { outbox in
                try await outbox.enqueue(Self.post(server.url()))
                let limit: Duration = fault == .hang ? .milliseconds(300) : .seconds(60)
                let events = try await flush(outbox, adapter: Token("any", fault: fault), limit: limit)
                let entry = try #require(events.first?.postponed, "\(events)")
                #expect(entry.attempts == 1 && entry.lastError?.isEmpty == false)
                // On a busy machine the time may be up before the server has seen it.
                let counts = fault == .refuse ? 0...0 : fault == .hang ? 0...1 : 1...1
                #expect(counts.contains(server.received.count))
            }
        }
    }

    @Test func `how long the server asks to be left alone is kept`() async throws {
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

    @Test func `nothing is sent to a host that is away, and at once when it is back`() async throws {
        let verdicts = PlayedNetwork()
        verdicts.set(reachable: false)
        let lab = try HTTPLab(verdicts: verdicts)
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
                        verdicts.set(reachable: true)
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

    @Test func `without credentials it waits, and their secrets are not told`() async throws {
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

    @Test func `who is not the server gets nothing`() async throws {
        let server = try await SecureServer([])
        try await withOutbox { outbox in
            try await outbox.enqueue(Self.post(server.url))
            let events = try await flush(outbox)
            let entry = try #require(events.first?.held, "\(events)")
            #expect(entry.attempts == 0 && server.streams == 0)
        }
        try await server.close()
    }

    /// Sends once, and says what was told.
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
        let headers = fault.map { [PlainRequest.Field(name: "X-Fault", value: $0.text)] } ?? []
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

/// Looks, after the answer and before the request is deleted, whether the files have a secret.
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

/// Adds a token, and tells the server what to do.
private struct Token: RequestAdapter {
    private let value: String
    private let faults: FaultAdapter

    init(_ value: String, fault: Fault? = nil) {
        self.value = value
        faults = FaultAdapter(fault.map { [$0] } ?? [], id: "")
    }

    func adapt(_ request: PlainRequest) async throws -> PlainRequest {
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
