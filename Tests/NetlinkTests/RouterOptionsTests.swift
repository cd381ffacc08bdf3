import Glibc
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

@testable import Netlink

/// Options of router advertisements, which the kernel passes on.
@Suite struct RouterOptionsTests {
    private static let portal = Array("https://portal.example/api".utf8) + [UInt8](repeating: 0, count: 4)

    /// An advertisement with the address of a portal (RFC 8910), as a router sends it: the kernel adds the checksum.
    private static var advertisement: [UInt8] {
        let option: [UInt8] = [37, UInt8((2 + portal.count) / 8)] + portal
        return [134, 0, 0, 0, 64, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + option
    }

    private static func advertise(on interface: String) throws {
        let raw = LabDescriptor(try check("socket", socket(AF_INET6, CInt(SOCK_RAW.rawValue), CInt(IPPROTO_ICMPV6))))
        var hops: CInt = 255
        let size = socklen_t(MemoryLayout<CInt>.size)
        try check("setsockopt", setsockopt(raw.number, CInt(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, &hops, size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_scope_id = if_nametoindex(interface)
        guard inet_pton(AF_INET6, "ff02::1", &address.sin6_addr) == 1 else { return }
        let bytes = advertisement
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(raw.number, bytes, bytes.count, 0, address, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
        try check("sendto", CInt(code))
    }

    @Test func `the address of a portal is heard, with its interface`() throws {
        let (options, interface) = try LabThread.run {
            let (host, router) = (try LabNamespace(), try LabNamespace())
            for namespace in [host, router] { try namespace.sysctl("net.ipv6.conf.default.accept_dad", "0") }
            try host.ip("link add h0 type veth peer name r0 netns \(router.path)", "link set h0 up")
            try router.ip("link set r0 up")
            return try host.perform { () -> ([RouterOptions], UInt32) in
                let socket = try RouterOptionSocket()
                #expect(socket.drain().isEmpty)
                var found: [RouterOptions] = []
                // Until the link-local address can be used.
                for _ in 0..<500 where found.isEmpty {
                    try? router.perform { try Self.advertise(on: "r0") }
                    var events = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                    poll(&events, 1, 20)
                    found = socket.drain()
                }
                return (found, if_nametoindex("h0"))
            }
        }
        let first = try #require(options.first)
        #expect(first.interface == interface)
        #expect(first.bytes == [37, 4] + Self.portal)
    }

    @Test func `damaged messages never trap`() async {
        let body: [UInt8] = [10, 0, 32, 0, 1, 0, 0, 0, 134, 0, 0, 0, 0, 0, 0, 0, 37, 4] + Self.portal
        var chance = SeededGenerator(seed: 37)
        for round in 0..<MutationCount.value {
            await takeTurns(in: round)
            var bytes = body
            for _ in 0..<3 {
                bytes[.random(in: 0..<bytes.count, using: &chance)] = .random(in: 0...255, using: &chance)
            }
            bytes.removeLast(.random(in: 0...bytes.count, using: &chance))
            let found = bytes.withUnsafeBytes { RouterOptions(body: $0) }
            #expect(found?.bytes.count ?? 0 <= body.count)
        }
    }

    @Test func `what is cut off is left out`() {
        let body: [UInt8] = [10, 0, 16, 0, 1, 0, 0, 0, 134, 0, 0, 0, 0, 0, 0, 0, 37, 1]
        for length in 0...body.count {
            #expect(body.prefix(length).withUnsafeBytes { RouterOptions(body: $0) } == nil)
        }
    }
}
