import LinuxSupport
import NetworkLab
import NetworkReachability
import ServerTrustNIO
import Testing
import WebLab

@testable import ReachabilityChecks

/// A line that drops large packets without an error (RFC 2923):
///
///     pc 10.1.0.2 fd01::2 - 1300 bytes - 10.1.0.1 fd01::1 router 10.2.0.1 fd02::1 - 10.2.0.2 fd02::2 server
private struct NarrowLine {
    let pc: LabNamespace
    let router: LabNamespace
    let server: LabNamespace

    init() throws {
        (pc, router, server) = (try LabNamespace(), try LabNamespace(), try LabNamespace())
        for namespace in [pc, router, server] {
            try namespace.sysctl("net.ipv6.conf.default.accept_dad", "0")
            try namespace.ip("link set lo up")
        }
        for name in ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"] { try router.sysctl(name, "1") }
        for (number, near, far) in [(1, router, pc), (2, router, server)] {
            try near.ip("link add r\(number) type veth peer name e0 netns \(far.path)")
            for (namespace, name, host) in [(near, "r\(number)", 1), (far, "e0", 2)] {
                try namespace.ip(
                    "link set \(name) up",
                    "addr add 10.\(number).0.\(host)/24 dev \(name)",
                    "addr add fd0\(number)::\(host)/64 dev \(name) nodad"
                )
            }
            try far.ip("route add default via 10.\(number).0.1", "route add default via fd0\(number)::1")
        }
        try router.ip("link set r1 mtu 1300")
        try server.filter("input", "icmp type destination-unreachable drop; icmpv6 type packet-too-big drop")
    }

    func close() {
        for namespace in [pc, router, server] { namespace.close() }
    }
}

@Suite(.enabled(if: Tool.hasNFT, "nft is not installed")) struct SmallSegmentTests {
    @Test(arguments: [AddressFamily.ipv4, .ipv6], [true, false])
    func `a request that stalls with large segments passes with small ones`(
        family: AddressFamily,
        isSecure: Bool
    ) async throws {
        let line = try await LabThread.detached { try NarrowLine() }
        defer { line.close() }
        let identity = isSecure ? WebIdentity.good(for: WebWorld.host) : nil
        let server = try await WebServer(in: line.server, identity: identity, .body(isSecure ? 10 : 20_000))
        let text = family == .ipv4 ? "10.2.0.2" : "fd02::2"
        let prober = try WebWorld.prober(to: text, in: line.pc, try WebWorld.engine(in: line.pc))
        let address = try #require(IPAddress(text))
        let url = try TrustedHTTPURL("\(isSecure ? "https" : "http")://\(WebWorld.host):\(server.port)/")
        let request = WebRequest(url, .target)
        let large = await prober.fetch(.target, request, at: address, limit: .seconds(8))
        #expect(large.phases[.connect] != nil && large.outcome == .silent, "\(large)")
        #expect(large.failedPhase == (isSecure ? .tls : .firstByte) && large.evidence.segmentSize != nil)
        let small = await prober.fetchSmall(.target, request, at: address, limit: .seconds(60))
        #expect(small.outcome == .answered && small.request.kind == .mtu, "\(small)")
        #expect(small.evidence.pathMTU == (family == .ipv4 ? 1240 : 1280))
        let both = await prober.fetchBoth(.target, request, at: address, RoundClock(limit: .seconds(3)))
        #expect(both.map(\.outcome) == [.silent, .answered] && both.last?.request.kind == .mtu, "\(both)")
        await server.close()
    }
}

@Suite struct SlowServerTests {
    @Test func `a server that stalls once and then answers loses no large packets`() async throws {
        let world = try await WebWorld()
        let server = try ScriptedServer(in: world.namespace) { request in
            request.connection == 1 ? .silence : .status(204)
        }
        defer { server.stop() }
        let url = try TrustedHTTPURL("http://127.0.0.1:\(server.port)/")
        let address = try #require(IPAddress("127.0.0.1"))
        let results = try await world.prober(to: "127.0.0.1")
            .fetchBoth(.target, WebRequest(url, .target), at: address, RoundClock(limit: .seconds(3)))
        #expect(results.map(\.outcome) == [.answered] && results.first?.request.kind == .http, "\(results)")
        #expect(server.connections == 3)
    }

    @Test func `a page that stalls after large segments arrived is not requested with small ones`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, .stalledBody(40_000))
        let address = try #require(IPAddress("127.0.0.1"))
        var exchange = WebExchange()
        exchange.content = "end"
        let request = WebRequest(try TrustedHTTPURL("http://127.0.0.1:\(server.port)/"), exchange)
        let results = try await world.prober(to: "127.0.0.1")
            .fetchBoth(.target, request, at: address, RoundClock(limit: .seconds(2)))
        #expect(results.map(\.outcome) == [.invalid(.stalled)] && server.connections == 1, "\(results)")
        await server.close()
    }

    @Test func `a mail server has more time, and a page with expected content a larger window`() throws {
        var request = WebRequest(try TrustedHTTPURL("https://a.example/"), .handshake)
        request.patience = .seconds(7)
        #expect(request.settings(limit: .seconds(3)).timeLimit == .seconds(10))
        let small = request.window
        request.exchange.content = "x"
        #expect(request.window > 4 * small)
    }

    @Test func `a probe that starts late has a second`() {
        let begun = ContinuousClock.now - .seconds(60)
        #expect(RoundClock(limit: .seconds(3), begun: begun).left == .seconds(1))
        #expect(RoundClock(limit: .milliseconds(200), begun: begun).left == .milliseconds(200))
    }
}

private enum Tool {
    static let hasNFT = ["/usr/sbin/nft", "/sbin/nft"].contains { InputFile.isReadable($0) }
}
