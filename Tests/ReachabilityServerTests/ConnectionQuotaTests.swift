import Foundation
import LinuxSupport
import NIOHTTP1
import NetworkLab
import Testing

@testable import ReachabilityServer

/// The quotas of connections.
@Suite struct ConnectionQuotaTests {
    private let administrator = WebClient.user(0)

    /// Returns the number of accepted connections of a client.
    private func accepted(_ client: WebClient, over transport: Transport, _ quota: inout ConnectionQuota) -> Int {
        (0..<100).count { _ in quota.admit(client, over: transport) }
    }

    @Test(arguments: [Transport.local, .loopback, .secured])
    func `one client gets at most a quarter of the connections`(transport: Transport) throws {
        let first = try #require(WireAddress("192.0.2.1"))
        let second = try #require(WireAddress("2001:db8::1"))
        for client in [WebClient.user(4242), .unknown, WebClient(first), WebClient(second)] {
            var quota = ConnectionQuota(limit: 80)
            #expect(accepted(client, over: transport, &quota) == 20)
            #expect(accepted(.user(4243), over: .local, &quota) == 20)
            quota.release(client, over: transport)
            #expect(accepted(client, over: transport, &quota) == 1)
        }
    }

    @Test func `clients of public content leave half of the connections`() throws {
        var quota = ConnectionQuota(limit: 80)
        for number in 1...10 {
            let client = WebClient(try #require(WireAddress("192.0.2.\(number)")))
            _ = accepted(client, over: .open, &quota)
        }
        #expect(quota.count == 40)
        #expect(accepted(.user(4243), over: .local, &quota) == 20)
    }

    @Test func `many clients leave connections for administrators`() {
        var quota = ConnectionQuota(limit: 80)
        for user in 1...10 { _ = accepted(.user(UInt32(4242 + user)), over: .local, &quota) }
        #expect(quota.count == 70)
        #expect(accepted(.user(5000), over: .local, &quota) == 0)
        #expect(accepted(administrator, over: .secured, &quota) == 0)
        #expect(accepted(administrator, over: .local, &quota) == 10)
    }

    @Test func `an IPv6 network and all loopback addresses each count as one client`() throws {
        func client(_ text: String) throws -> WebClient { WebClient(try #require(WireAddress(text))) }
        #expect(try client("2001:db8::1") == client("2001:db8::ffff:1"))
        #expect(try client("2001:db8::1") != client("2001:db8:0:1::1"))
        #expect(try client("192.0.2.1") != client("192.0.2.2"))
        #expect(try client("127.0.0.1") == client("127.9.9.9"))
        #expect(try client("127.0.0.1") == client("::1"))
    }

    /// A program that opens TCP connections, prints a line, and ends when its input ends.
    private static let hoarder = #"""
        my @held = map { IO::Socket::INET->new(PeerAddr => $ARGV[0]) } 1..$ARGV[1];
        $| = 1; print "ready\n"; <STDIN>;
        """#

    @Test(.enabled(if: AccessTests.mayBecomeOthers)) func `a local user cannot use up the TCP connections`()
        async throws
    {
        var limits = WebLimits.patient
        limits.connections = 16
        let server = WebServer(limits: limits) { _, done in done(WebAnswer(type: "text/plain", Array("here".utf8))) }
        let address = try await server.listen(at: ListenAddress("127.0.0.1:0"))
        let arguments = [
            "--reuid=4242", "--regid=4242", "--clear-groups", "perl", "-MIO::Socket::INET", "-e", Self.hoarder,
            address, "40",
        ]
        let hoarder = Process()
        hoarder.executableURL = URL(filePath: "/usr/bin/setpriv")
        hoarder.arguments = arguments
        let (input, output) = (Pipe(), Pipe())
        (hoarder.standardInput, hoarder.standardOutput) = (input, output)
        try hoarder.run()
        _ = try await LabThread.detached { try output.fileHandleForReading.read(upToCount: 6) }
        #expect(try await eventually { server.statistics.refused == 36 })
        #expect(server.statistics.connections == 4)
        // Another user of this machine connects from the same address.
        let otherArguments = [
            "--reuid=4243", "--regid=4243", "--clear-groups", "perl", "-MIO::Socket::INET", "-e",
            #"my $s = IO::Socket::INET->new(PeerAddr => $ARGV[0]); print $s "GET / HTTP/1.0\r\n\r\n"; print <$s>;"#,
            address,
        ]
        let result = try await LabThread.detached { try LabProcess("setpriv", otherArguments).wait() }
        #expect(result.output.hasSuffix("here"), "\(result)")
        try input.fileHandleForWriting.close()
        hoarder.waitUntilExit()
        await server.stop()
    }
}

/// The order in which requests of several clients are answered.
@Suite struct RequestQueueTests {
    private func request(of client: WebClient, isAbandoned: Bool = false) throws -> WebRequest {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        var request = try WebRequest(head, body: [], peer: .local(user: nil))
        request.client = client
        request.isAbandoned = { isAbandoned }
        return request
    }

    @Test func `clients are served in turn, and requests of disconnected clients are dropped`() async throws {
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
