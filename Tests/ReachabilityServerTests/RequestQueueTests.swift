import LinuxSupport
import NIOHTTP1
import NetworkLab
import Testing

@testable import ReachabilityServer

/// The order in which requests are answered.
@Suite struct RequestQueueTests {
    private func request(of client: WebClient, isAbandoned: Bool = false) throws -> WebRequest {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        var request = try WebRequest(head, body: [], way: .local(user: nil))
        request.client = client
        request.isAbandoned = { isAbandoned }
        return request
    }

    @Test func `each client has its turn, and what a client has left behind is not done`() async throws {
        let queue = RequestQueue("test")
        let (made, answered) = (Locked<[String]>([]), Locked(0))
        let gate = Latch()
        func add(_ name: String, of user: UInt32, isAbandoned: Bool = false) throws {
            queue.add(try request(of: .user(user), isAbandoned: isAbandoned)) {
                if name == "gate" { _ = gate.wait(atMost: .patience) }
                made.withLock { $0.append(name) }
                return WebAnswer()
            } _: { _ in
                answered.withLock { $0 += 1 }
            }
        }
        try add("gate", of: 1)
        for number in 0..<4 { try add("a\(number)", of: 1, isAbandoned: number == 1) }
        try add("b", of: 2)
        try add("c0", of: 3)
        try add("c1", of: 3)
        gate.open()
        #expect(try await eventually { answered.withLock { $0 == 8 } })
        let order = made.withLock(\.self)
        #expect(order.first == "gate")
        #expect(Set(order.dropFirst().prefix(3)) == ["a0", "b", "c0"])
        #expect(order.suffix(3) == ["c1", "a2", "a3"])
        #expect(!order.contains("a1") && order.count == 7)
    }
}
