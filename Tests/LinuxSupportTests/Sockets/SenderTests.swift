import Glibc
import NetworkLab
import Testing

@testable import LinuxSupport

/// The senders of ICMP errors, for each kind of socket.
@Suite(.enabled(if: getuid() == 0))
struct SenderTests {
    private static let users = Chain.User.allCases.filter { $0 == .root || LabThread.canBecomeNobody }

    private func expect(
        _ word: SenderCase.Word,
        _ name: String,
        _ errors: [ErrorQueueMessage],
        location: SourceLocation = #_sourceLocation
    ) throws {
        let comment = Comment(rawValue: "\(name), \(word.address): \(errors)")
        let error = try #require(errors.last, comment, sourceLocation: location)
        #expect(error.offender == WireAddress(word.sender), comment, sourceLocation: location)
        #expect(error.type == word.type, comment, sourceLocation: location)
        #expect(error.code == word.code, comment, sourceLocation: location)
        #expect(error.origin == (word.address.contains(":") ? .icmp6 : .icmp), comment, sourceLocation: location)
    }

    private func datagrams(_ cases: [SenderCase], _ content: DatagramRequest.Content, as user: Chain.User) async throws
    {
        try await Chain.run(as: user) { chain, engine in
            try await withThrowingTaskGroup { group in
                for (one, word) in cases.flatMap({ one in one.words.map { (one, $0) } }) {
                    let request = DatagramRequest(
                        to: try SocketEndpoint(word.address, port: one.port),
                        content,
                        settings: SocketSettings(hopLimit: one.hopLimit),
                        // A router sends one error of its routes per second, and may have sent it to another request.
                        tries: (0..<7).map { .milliseconds(1100 * $0) },
                        limit: .patience
                    )
                    group.addTask {
                        let outcome = await engine.send(request)
                        #expect(outcome.end == .error, "\(one.name), \(word.address): \(outcome)")
                        try expect(word, one.name, outcome.errors.map(\.message))
                    }
                }
                try await group.waitForAll()
            }
            try await chain.expectNoSockets()
        }
    }

    @Test(arguments: users)
    func `each ICMP error has its sender on a UDP socket`(user: Chain.User) async throws {
        try await datagrams(SenderCase.all + [.closedPort], .payload(Array("echo".utf8)), as: user)
    }

    @Test(arguments: users)
    func `each ICMP error has its sender on a ping socket`(user: Chain.User) async throws {
        try await datagrams(SenderCase.all, .echo(size: 56), as: user)
    }

    @Test(arguments: users)
    func `each ICMP error has its sender on a TCP socket`(user: Chain.User) async throws {
        try await Chain.run(as: user) { chain, engine in
            try await withThrowingTaskGroup { group in
                for (one, word) in SenderCase.all.flatMap({ one in one.words.map { (one, $0) } }) {
                    let request = StreamRequest(
                        to: try SocketEndpoint(word.address, port: one.port),
                        settings: SocketSettings(hopLimit: one.hopLimit),
                        limit: .patience
                    )
                    group.addTask {
                        let outcome = await engine.connect(request)
                        if case .error = outcome.end {
                        } else {
                            Issue.record("\(one.name), \(word.address): \(outcome)")
                        }
                        try expect(word, one.name, outcome.errors)
                    }
                }
                try await group.waitForAll()
            }
            try await chain.expectNoSockets()
        }
    }

    @Test func `the hop limit of an ICMP error shows the distance of its sender`() async throws {
        try await Chain.run { chain, engine in
            for (host, limits) in [
                ("203.0.113.7", [(UInt8(1), UInt8(64)), (2, 63)]), ("fd77::10", [(1, 64), (2, 63)]),
            ] {
                for (limit, expected) in limits {
                    let outcome = await engine.send(
                        DatagramRequest(
                            to: try SocketEndpoint(host, port: 33434),
                            .payload([0]),
                            settings: SocketSettings(hopLimit: limit),
                            // A router sends one error of its routes per second, and may have sent it to another
                            // request.
                            tries: (0..<7).map { .milliseconds(1100 * $0) },
                            limit: .patience
                        )
                    )
                    let error = try #require(outcome.errors.last?.message)
                    #expect(error.hopLimit == expected && error.code == 0)
                    #expect(error.origin == (host.contains(":") ? .icmp6 : .icmp))
                    #expect(error.type == (host.contains(":") ? 3 : 11))
                }
            }
        }
    }
}

/// A cause of packet loss, with the sender and the code of its ICMP error.
struct SenderCase: Sendable {
    struct Word: Sendable {
        let address: String
        let sender: String
        let type: UInt8
        let code: UInt8

        /// - Parameter text: The destination, the sender, the type and the code.
        init(_ text: String) {
            let parts = text.split(separator: " ").map(String.init)
            (address, sender) = (parts[0], parts[1])
            (type, code) = (UInt8(parts[2]) ?? 0, UInt8(parts[3]) ?? 0)
        }
    }

    let name: String
    var hopLimit: UInt8?
    var port = EchoServer.port
    let words: [Word]

    init(_ name: String, hopLimit: UInt8? = nil, port: UInt16 = EchoServer.port, _ words: String...) {
        self.name = name
        self.hopLimit = hopLimit
        self.port = port
        self.words = words.map(Word.init)
    }

    /// The cases in a `Chain`, for all kinds of sockets.
    static let all = [
        SenderCase("the router prohibits", "198.51.100.1 10.1.0.1 3 13", "fd98::1 fd01::1 1 1"),
        SenderCase("the router has an unreachable route", "198.51.100.2 10.1.0.1 3 1", "fd98::2 fd01::1 1 0"),
        SenderCase("the router has no route", "192.0.2.1 10.1.0.1 3 0", "2001:db8::1 fd01::1 1 0"),
        SenderCase("the provider prohibits", "198.51.100.65 10.9.0.2 3 13", "fd98::65 fd09::2 1 1"),
        SenderCase("the router does not find the host", "10.9.0.99 10.1.0.1 3 1", "fd09::99 fd01::1 1 3"),
        SenderCase("we do not find the neighbour", "10.1.0.77 10.1.0.2 3 1", "fd01::77 fd01::2 1 3"),
        SenderCase(
            "the hop limit ends at the router",
            hopLimit: 1,
            "203.0.113.7 10.1.0.1 11 0",
            "fd77::10 fd01::1 3 0"
        ),
        SenderCase(
            "the hop limit ends at the provider",
            hopLimit: 2,
            "203.0.113.7 10.9.0.2 11 0",
            "fd77::10 fd09::2 3 0"
        ),
    ]

    /// The case for UDP only.
    static let closedPort = SenderCase(
        "the port is closed",
        port: 9,
        "203.0.113.7 203.0.113.7 3 3",
        "fd77::10 fd77::10 1 4"
    )
}

/// Four namespaces in a row. The server echoes UDP and accepts TCP.
///
/// pc p0 10.1.0.2 fd01::2 - r0 10.1.0.1 fd01::1 fe80::1 router r1 10.9.0.1 fd09::1
///       - v0 10.9.0.2 fd09::2 provider v1 10.3.0.1 fd03::1 - s0 10.3.0.2 fd03::2 server 203.0.113.7 fd77::10
final class Chain: Sendable {
    let pc: LabNamespace
    let router: LabNamespace
    let provider: LabNamespace
    let server: LabNamespace
    private let row: LabRow
    private let echo: EchoServer

    /// The IPv4 and the IPv6 address of one remote host.
    static let hosts = LabRow.hosts

    private init() throws {
        row = try LabRow(
            [
                LabRow.Cable(("p0", 2), ("r0", 1), network: 1), LabRow.Cable(("r1", 1), ("v0", 2), network: 9),
                LabRow.Cable(("v1", 1), ("s0", 2), network: 3),
            ],
            isPatient: false
        )
        (pc, router, provider, server) = (row.stations[0], row.stations[1], row.stations[2], row.stations[3])
        try router.ip(
            "addr add fe80::1/64 dev r0 nodad",
            "route add 203.0.113.0/24 via 10.9.0.2",
            "route add 198.51.100.0/24 via 10.9.0.2",
            "route add prohibit 198.51.100.1",
            "route add unreachable 198.51.100.2",
            "route add fd77::/64 via fd09::2",
            "route add fd98::/64 via fd09::2",
            "-6 route add prohibit fd98::1",
            "-6 route add unreachable fd98::2"
        )
        try provider.ip(
            "route add 203.0.113.0/24 via 10.3.0.2",
            "route add prohibit 198.51.100.65",
            "route add blackhole 198.51.100.66",
            "route add fd77::/64 via fd03::2",
            "-6 route add prohibit fd98::65",
            "-6 route add blackhole fd98::66"
        )
        try server.ip("route add default via 10.3.0.1", "route add default via fd03::1")
        echo = try EchoServer(in: [server])
    }

    /// Runs a function with a new chain, and removes the chain.
    static func run(_ body: @Sendable (Chain) async throws -> Void) async throws {
        let chain = try await LabThread.detached {
            let chain = try Chain()
            // Afterwards each neighbour is known by both families.
            let reachable = try PacketOracle(in: chain.pc).reachable(of: hosts, expecting: Set(hosts))
            guard reachable.count == hosts.count else { throw LabError("the chain carries no packets: \(reachable)") }
            return chain
        }
        defer { chain.close() }
        try await body(chain)
    }

    /// Runs a function with a new chain and an engine whose sockets are in the namespace of the pc.
    static func run(
        _ limits: EngineLimits = .init(),
        as user: User = .root,
        _ body: @Sendable (Chain, SocketEngine) async throws -> Void
    ) async throws {
        try await run { chain in try await body(chain, try chain.engine(limits, as: user)) }
    }

    private func close() {
        echo.stop()
        row.close()
    }
}

/// Runs a function several times at the same time, and returns the results.
func simultaneously<Value: Sendable>(_ count: Int, _ body: @escaping @Sendable () async -> Value) async -> [Value] {
    await withTaskGroup { group in
        for _ in 0..<count { group.addTask { await body() } }
        return await group.reduce(into: []) { $0.append($1) }
    }
}

extension Chain {
    /// The owner of the sockets of an engine.
    enum User: CaseIterable {
        case root
        case nobody
    }

    /// Returns an engine whose sockets are in the namespace of the pc.
    func engine(_ limits: EngineLimits = .init(), as user: User = .root) throws -> SocketEngine {
        try pc.engine(limits, asNobody: user == .nobody)
    }

    /// Returns the number of sockets in the namespace of the pc, which no other test uses.
    func openSockets() async throws -> Int {
        try await pc.perform {
            ["udp", "udp6", "tcp", "tcp6", "icmp", "icmp6"].reduce(0) { count, kind in
                let table = TextFile.read("/proc/thread-self/net/\(kind)") ?? ""
                return count + max(0, table.split(separator: "\n").count - 1)
            }
        }
    }

    /// Checks that all sockets are closed. A process that another test starts may hold them too, until it executes its
    /// program.
    func expectNoSockets(location: SourceLocation = #_sourceLocation) async throws {
        let areGone = try await eventually { try await openSockets() == 0 }
        #expect(areGone, sourceLocation: location)
    }
}
