import Glibc
import LinuxSupport
import NetworkLab
import Testing

@testable import Netlink

/// What shows that packets flow, without sending any.
@Suite struct ConnectionTests {
    /// Both ends of a connection over the loopback interface, closed with this.
    private final class Pair {
        var descriptors: [LabDescriptor] = []
        let port: UInt16

        init() throws {
            let listener = LabDescriptor(try check("socket", socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)))
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
            let client = LabDescriptor(try check("socket", socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)))
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

    @Test func `connections are listed with what was measured of them`() throws {
        let (connections, port) = try LabThread.run {
            let namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            return try namespace.perform {
                #expect(try ConnectionQuestion.ask().isEmpty)
                let pair = try Pair()
                return try withExtendedLifetime(pair) { (try ConnectionQuestion.ask(), pair.port) }
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

    @Test(.enabled(if: LabThread.canBecomeNobody)) func `nobody special may list them`() throws {
        let count = try LabThread.run {
            let namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            return try namespace.perform {
                let pair = try Pair()
                try LabThread.becomeNobody()
                return try withExtendedLifetime(pair) { try ConnectionQuestion.ask().count }
            }
        }
        #expect(count == 2)
    }

    @Test func `a neighbour that answers is confirmed`() throws {
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
                var questions = QuestionSocket(try SocketTransport())
                for _ in 0..<1000 {
                    let answer = try questions.ask([.neighbour(WireAddress(ipv4: 0x0a09_0002), link: link)])
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

    @Test func `what is too short is no connection`() {
        for length in [0, 1, 40, 71] {
            #expect([UInt8](repeating: 2, count: length).withUnsafeBytes { TCPConnection(body: $0) } == nil)
        }
    }
}
