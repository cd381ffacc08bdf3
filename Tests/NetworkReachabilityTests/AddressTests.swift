import Glibc
import LinuxSupport
import Netlink
import Testing

@testable import NetworkReachability

@Suite("Addresses and names")
struct AddressTests {
    @Test(
        "Literals",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("2001:DB8:0::1", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("fe80::1%eth0", "fe80::1%eth0"), ("fe80::1%2", "fe80::1%2"), ("192.0.2.1%red", "192.0.2.1%red"),
            ("::", "::"), ("0.0.0.0", "0.0.0.0"),
        ]
    )
    func literals(text: String, description: String) {
        #expect(IPAddress(text)?.description == description)
    }

    @Test(
        "What is no literal",
        arguments: [
            "", " ", "1.2.3", "1.2.3.4.5", "256.1.1.1", "192.0.2.1:80", "192.0.2.0/24", "[::1]", "::1:80:", "fe80::1%",
            "fe80::1%a/b", "fe80::1%a b", "192.0.2.1%", "192.0.2.1%a/b",
            "fe80::1%" + String(repeating: "x", count: 128), "localhost",
        ]
    )
    func notLiterals(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("Zones", arguments: ["2", "eth0", "interface", "abcdefghijklmno", "an-alternative-name-of-it", "wlän0"])
    func zones(name: String) throws {
        let address = try #require(IPAddress("fe80::1%\(name)"))
        #expect(address.zone == name)
        #expect(address == IPAddress(address.wire, zone: name) && address != IPAddress("fe80::1%x"))
        #expect(address != IPAddress("fe80::1") && IPAddress("fe80::1")?.zone == nil)
        #expect(IPAddress(try #require(IPAddress("192.0.2.1")).wire, zone: name).zone == nil)
    }

    @Test("Socket addresses")
    func socketAddresses() {
        var ipv4 = sockaddr_in()
        ipv4.sin_family = sa_family_t(AF_INET)
        ipv4.sin_port = 80
        ipv4.sin_addr.s_addr = UInt32(0xc000_0201).bigEndian
        #expect(IPAddress(ipv4).description == "192.0.2.1")

        var ipv6 = sockaddr_in6()
        ipv6.sin6_family = sa_family_t(AF_INET6)
        ipv6.sin6_scope_id = 7
        inet_pton(AF_INET6, "fe80::7", &ipv6.sin6_addr)
        #expect(IPAddress(ipv6).description == "fe80::7%7")

        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { storage in
            withUnsafeBytes(of: ipv6) { storage.copyMemory(from: $0) }
        }
        #expect(IPAddress(storage) == IPAddress("fe80::7%7"))
        #expect(IPAddress(sockaddr_storage()) == nil)
    }

    @Test("A manager says why it cannot be made")
    func errors() {
        func error(_ host: String) -> NetworkReachabilityError? {
            do throws(NetworkReachabilityError) {
                _ = try NetworkReachabilityManager(host: host, options: NetworkReachabilityOptions())
                return nil
            } catch {
                return error
            }
        }
        #expect(error("http://example.org") == .invalidHost("http://example.org"))
        #expect(error("fe80::1") == .zoneRequired("fe80::1"))
        #expect(error("fe80::1")?.description.contains("fe80::1%eth0") == true)
        #expect(NetworkReachabilityManager(host: "") == nil)
        #expect(NetworkReachabilityManager(host: "example.org:443") == nil)
        #expect(NetworkReachabilityManager(address: sockaddr_storage()) == nil)
    }

    @Test("The set that stands for the network at large is complete and has no majority in half the address space")
    func atLarge() {
        let ipv4 = AtLarge.addresses.filter { !$0.isIPv6 }
        #expect(AtLarge.addresses.count == 13)
        #expect(ipv4.count == 8)
        #expect(ipv4.count { $0.wire.bits >> 31 == 0 } == 4)
    }

    @Test("The addresses that stand for the network at large are asked about IPv4 first, however they are given")
    func atLargeOrder() throws {
        let given = try ["2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2"].map { try #require(IPAddress($0)) }
        #expect(Target(.atLarge(given)).destination == .atLarge([given[1], given[3], given[0], given[2]]))
    }
}
