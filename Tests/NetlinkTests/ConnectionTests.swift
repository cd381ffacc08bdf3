import Glibc
import LinuxSupport
import NetworkLab
import Testing

@testable import Netlink

/// Evidence that packets flow, obtained without sending any.
@Suite struct ConnectionTests {
    /// Both ends of a connection over the loopback interface. They are closed when the value is released.
    private final class Pair {
        var descriptors: [LabDescriptor] = []
        let port: UInt16

        init() throws {
            let listener = LabDescriptor(
                try check("socket", socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
            )
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let number = listener.number
            try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    try check("bind", bind(number, address, length))
                    try check("listen", listen(number, 1))
                    try check("getsockname", getsockname(number, address, &length))
                }
            }
            port = UInt16(bigEndian: address.sin_port)
            let client = LabDescriptor(
                try check("socket", socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
            )
            try withUnsafePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    _ = try check("connect", connect(client.number, address, length))
                }
            }
            let server = LabDescriptor(try check("accept", accept(listener.number, nil, nil)))
            _ = send(server.number, "hello", 5, 0)
            descriptors = [listener, client, server]
        }
    }

    @Test func `connections are listed with the kernel's measurements`() throws {
        let (connections, port) = try LabThread.run {
            let namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            return try namespace.perform {
                #expect(try TCPConnectionDump.query().isEmpty)
                let pair = try Pair()
                return try withExtendedLifetime(pair) { (try TCPConnectionDump.query(), pair.port) }
            }
        }
        #expect(connections.count == 2)
        let client = try #require(connections.first { $0.remotePort == port })
        let server = try #require(connections.first { $0.localPort == port })
        #expect(client.localPort == server.remotePort && client.local == WireAddress(ipv4: 0x7f00_0001))
        #expect(client.information.bytesReceived == 5)
        #expect(client.information.sinceDataReceived < .seconds(60))
        #expect(client.interface == 0)
    }

    @Test(.enabled(if: LabThread.canBecomeNobody)) func `an unprivileged user can list connections`() throws {
        let count = try LabThread.run {
            let namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            return try namespace.perform {
                let pair = try Pair()
                try LabThread.becomeNobody()
                return try withExtendedLifetime(pair) { try TCPConnectionDump.query().count }
            }
        }
        #expect(count == 2)
    }

    @Test func `a neighbour that answers has a recent confirmation`() throws {
        let neighbour = try LabThread.run {
            let (one, other) = (try LabNamespace(), try LabNamespace())
            try one.ip(
                "link add a0 type veth peer name b0 netns \(other.path)",
                "address add 10.9.0.1/24 dev a0",
                "link set a0 up"
            )
            try other.ip("address add 10.9.0.2/24 dev b0", "link set b0 up")
            return try one.perform { () -> Neighbour? in
                let probe = LabDescriptor(try check("socket", socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)))
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x0a09_0002).bigEndian
                address.sin_port = UInt16(9).bigEndian
                withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                        _ = sendto(probe.number, "x", 1, 0, address, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                let link = if_nametoindex("a0")
                var questions = QuerySocket(try SocketTransport())
                for _ in 0..<1000 {
                    let answer = try questions.query([.neighbour(WireAddress(ipv4: 0x0a09_0002), link: link)])
                    if case .neighbour(let found?)? = answer.first, found.state == .reachable { return found }
                    usleep(2000)
                }
                return nil
            }
        }
        let age = try #require(neighbour?.sinceConfirmed)
        #expect(age < .seconds(60))
        #expect(neighbour?.hardwareAddress.count == 6)
    }

    @Test func `a truncated message is not a connection`() {
        for length in [0, 1, 40, 71] {
            #expect([UInt8](repeating: 2, count: length).withUnsafeBytes { TCPConnection(body: $0) } == nil)
        }
    }
}

/// The user of a TCP connection of this machine.
@Suite struct SocketOwnerTests {
    /// Opens a TCP socket at a loopback address. The caller closes it.
    private func socket(_ family: CInt) throws -> CInt {
        // A program that another test starts must not keep the connection open.
        let number = Glibc.socket(family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(number >= 0)
        return number
    }

    private func withAddress<Value>(
        _ family: CInt,
        port: UInt16 = 0,
        _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Value
    ) -> (Value, UInt16) {
        var storage = sockaddr_storage()
        return withUnsafeMutablePointer(to: &storage) { pointer in
            var length: socklen_t
            if family == AF_INET {
                length = socklen_t(MemoryLayout<sockaddr_in>.size)
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    $0.pointee.sin_family = sa_family_t(AF_INET)
                    $0.pointee.sin_port = port.bigEndian
                    $0.pointee.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                }
            } else {
                length = socklen_t(MemoryLayout<sockaddr_in6>.size)
                pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    $0.pointee.sin6_family = sa_family_t(AF_INET6)
                    $0.pointee.sin6_port = port.bigEndian
                    $0.pointee.sin6_addr = in6addr_loopback
                }
            }
            let value = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
            // The port has the same position in both structures.
            let found = pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt16(bigEndian: $0.pointee.sin_port)
            }
            return (value, found)
        }
    }

    @Test(arguments: [AF_INET, AF_INET6])
    func `a connection has the user of its process, and no user after it was closed`(
        family: CInt
    ) async throws {
        let (listener, client) = (try socket(family), try socket(family))
        defer { close(listener) }
        _ = withAddress(family) { bind(listener, $0, $1) }
        _ = listen(listener, 1)
        let server = withAddress(family) { getsockname(listener, $0, &$1) }.1
        try #require(withAddress(family, port: server) { connect(client, $0, $1) }.0 == 0)
        let port = withAddress(family) { getsockname(client, $0, &$1) }.1
        let address = try #require(WireAddress(family == AF_INET ? "127.0.0.1" : "::1"))
        #expect(TCPConnectionDump.user(local: (address, port), remote: (address, server)) == geteuid())
        #expect(TCPConnectionDump.user(local: (address, port), remote: (address, 1)) == nil)
        close(client)
        // A child process of another test has the descriptor until it executes its program.
        try await waitUntil { TCPConnectionDump.user(local: (address, port), remote: (address, server)) == nil }
    }
}

/// The kernel's list of netlink sockets.
@Suite struct ListedSocketTests {
    /// A list that the kernel printed while other namespaces opened sockets. The fourth line repeats the second.
    private static let list = """
        sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode
        0000000000000000 0   0          00000000 0        0        0     2        0        70501
        0000000000000000 0   70400      00000551 0        0        0     2        3        70510
        0000000000000000 15  0          00000000 0        0        0     2        0        70502
        0000000000000000 0   70400      00000551 0        0        0     2        5        70510

        """

    @Test func `a socket that is listed twice is counted once`() {
        let sockets = ListedSocket.all(listedIn: Self.list).sorted { $0.inode < $1.inode }
        #expect(sockets.map(\.inode) == [70501, 70502, 70510])
        #expect(sockets.map(\.family) == [0, 15, 0])
        #expect(sockets.map(\.port) == [0, 0, 70400])
        #expect(sockets.last?.drops == 5)
    }

    @Test func `an empty list contains no socket`() {
        #expect(ListedSocket.all(listedIn: "").isEmpty)
        #expect(ListedSocket.all(listedIn: "sk Eth Pid\n0 0 1\n").isEmpty)
    }
}
