import Glibc
import NetworkLab
import Testing

@testable import LinuxSupport

/// Who says that packets do not arrive, on each kind of socket.
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
        try await Chain.run { chain in
            let engine = try chain.engine(as: user)
            try await withThrowingTaskGroup { group in
                for (one, word) in cases.flatMap({ one in one.words.map { (one, $0) } }) {
                    let request = DatagramRequest(
                        to: try SocketEndpoint(word.address, port: one.port),
                        content,
                        settings: SocketSettings(hopLimit: one.hopLimit),
                        // Of errors of its routes a router sends one a second, and may have spent what it had on others.
                        tries: (0..<7).map { .milliseconds(1100 * $0) },
                        limit: .seconds(8)
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
    func `every ICMP error has its sender on a UDP socket`(user: Chain.User) async throws {
        try await datagrams(SenderCase.all + [.closedPort], .payload(Array("echo".utf8)), as: user)
    }

    @Test(arguments: users)
    func `every ICMP error has its sender on a ping socket`(user: Chain.User) async throws {
        try await datagrams(SenderCase.all, .echo(size: 56), as: user)
    }

    @Test(arguments: users)
    func `every ICMP error has its sender on a TCP socket`(user: Chain.User) async throws {
        try await Chain.run { chain in
            let engine = try chain.engine(as: user)
            try await withThrowingTaskGroup { group in
                for (one, word) in SenderCase.all.flatMap({ one in one.words.map { (one, $0) } }) {
                    let request = ConnectRequest(
                        to: try SocketEndpoint(word.address, port: one.port),
                        settings: SocketSettings(hopLimit: one.hopLimit),
                        limit: .seconds(8)
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

    @Test
    func `the hop limit of an error counts the hops back`() async throws {
        try await Chain.run { chain in
            let engine = try chain.engine()
            for (host, limits) in [
                ("203.0.113.7", [(UInt8(1), UInt8(64)), (2, 63)]), ("fd77::10", [(1, 64), (2, 63)]),
            ] {
                for (limit, expected) in limits {
                    let outcome = await engine.send(
                        DatagramRequest(
                            to: try SocketEndpoint(host, port: 33434),
                            .payload([0]),
                            settings: SocketSettings(hopLimit: limit),
                            // Of errors of its routes a router sends one a second, and may have spent what it had on others.
                            tries: (0..<7).map { .milliseconds(1100 * $0) },
                            limit: .seconds(8)
                        )
                    )
                    #expect(outcome.errors.last?.message.hopLimit == expected)
                    #expect(outcome.errors.last?.message.isTimeExceeded == true)
                }
            }
        }
    }
}
