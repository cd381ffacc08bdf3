import Glibc
import NIOCore
import NIOPosix
import NetworkLab
import Testing

@testable import ServerTrustNIO

/// Connections to servers, and the errors of failed connections.
@Suite struct ConnectionTests {
    private static let hasIPv6 = access("/proc/net/if_inet6", R_OK) == 0

    @Test func `a refused connection is reported with the address`() async throws {
        let taken = try ScriptedServer.unreachable(.closed)
        let port = taken.port
        let failure = try await HTTPWorld.failure(of: "http://127.0.0.1:\(port)/")
        #expect("\(failure)".hasPrefix("cannot connect to 127.0.0.1 at port \(port): "))
        #expect("\(failure)".hasSuffix("Connection refused"))
    }

    @Test func `an unresolved name is reported`() async throws {
        let connector = {
            var connector = SocketConnector(group: .singleton)
            connector.resolver = EmptyResolver()
            return connector
        }()
        let tls = try HTTPWorld.client().tls
        let client = TrustedHTTPClient(tls: tls, settings: TrustedHTTPSettings(), connector: connector)
        let failure = try await HTTPWorld.failure(of: "http://no-such-host.example./", client)
        #expect(failure == .unresolved(host: "no-such-host.example.", cause: "nobody knows"))
    }

    @Test func `a connection attempt without an answer ends at the time limit`() async throws {
        let listener = try ScriptedServer.unreachable(.full)
        let settings = TrustedHTTPSettings().with(\.connectTimeLimit, .milliseconds(50))
        let failure = try await HTTPWorld.failure(
            of: "http://127.0.0.1:\(listener.port)/",
            settings: settings
        )
        #expect(failure == .connectTimedOut(host: "127.0.0.1", port: listener.port, limit: .milliseconds(50)))
    }

    @Test(.enabled(if: Self.hasIPv6, "there is no ::1"))
    func `a server with an IPv6 address is reached`() async throws {
        try await withServer(try ScriptedServer(at: ["::1"]) { _ in .ok() }) { server in
            let url = server.url(host: "[::1]")
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(url))
            #expect(response.text == "hello")
            #expect(server.requests.first?.contains("Host: [::1]:\(server.port)\r\n") == true)
        }
    }

    @Test func `a name with several addresses is reached if one address answers`() async throws {
        // Only one of the addresses of localhost listens.
        try await withServer(.ok()) { server in
            let url = server.url(host: "localhost")
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(url))
            #expect(response.text == "hello")
        }
    }

    @Test func `a client uses the event loop group that it was given`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await withServer(.ok()) { server in
            let client = TrustedHTTPClient(
                tls: try HTTPWorld.client().tls,
                connector: SocketConnector(group: group)
            )
            #expect(try await client.execute(TrustedHTTPRequest(server.url())).text == "hello")
            await server.waitUntilClosed(1)
        }
        try await group.shutdownGracefully()
    }

    @Test func `shutting down the event loop group ends a request`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await withServer(.silence) { server in
            let client = TrustedHTTPClient(
                tls: try HTTPWorld.client().tls,
                connector: SocketConnector(group: group)
            )
            let url = server.url()
            let task = Task { try await HTTPWorld.failure(of: url, client) }
            await server.waitForRequests(1)
            try await group.shutdownGracefully()
            #expect(try await task.value == .connectionClosed(.head))
        }
    }

    /// The cases include IPv4 addresses that are embedded in IPv6 addresses (for example by a translator, RFC 6052).
    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.255.254", true), ("0.0.0.0", true), ("169.254.169.254", true),
        ("224.0.0.1", true), ("255.255.255.255", true), ("10.0.0.1", false), ("192.168.1.1", false),
        ("126.255.255.255", false), ("169.253.0.1", false), ("::", true), ("::1", true), ("::127.0.0.1", true),
        ("::ffff:127.0.0.1", true), ("::ffff:169.254.169.254", true), ("::ffff:10.0.0.1", false),
        ("64:ff9b::7f00:1", true), ("64:ff9b::169.254.169.254", true), ("64:ff9b::192.0.2.1", false),
        ("fe80::1", true), ("febf::1", true), ("fec0::1", false), ("ff02::1", true), ("fd00::1", false),
        ("2001:db8::1", false),
    ])
    func `loopback, link-local and multicast addresses are local`(text: String, isLocal: Bool) throws {
        #expect(LocalAddressGuard.isLocal(try SocketAddress(ipAddress: text, port: 80)) == isLocal)
    }
}
