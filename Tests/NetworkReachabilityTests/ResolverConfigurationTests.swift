import Testing

@testable import NetworkReachability

/// What the files of the name service say.
@Suite struct ResolverConfigurationTests {
    private static func servers(_ resolv: String, _ order: String? = nil, _ upstream: String? = nil) -> [String]? {
        ResolverConfiguration(resolv: resolv, order: order, upstream: upstream)
            .servers(for: "a.example")?.map(\.description)
    }

    @Test func `servers stand in their order, three at most`() {
        let two = "nameserver 192.0.2.1\n#nameserver 192.0.2.9\nnameserver\t2001:db8::1"
        #expect(Self.servers(two) == ["192.0.2.1", "2001:db8::1"])
        let many = (1...4).map { "nameserver 192.0.2.\($0)\n" }.joined()
        #expect(Self.servers(many)?.count == 3)
        #expect(Self.servers("nameserver fe80::1%eth0\nnameserver nonsense\nnameserver\n") == ["fe80::1%eth0"])
        #expect(Self.servers("") == [])
    }

    @Test func `systemd-resolved asks others`() {
        let upstream = "nameserver 192.0.2.1\n"
        #expect(Self.servers("nameserver 127.0.0.53", nil, upstream) == ["192.0.2.1"])
        #expect(Self.servers("nameserver 127.0.0.53") == ["127.0.0.53"])
        #expect(Self.servers("nameserver 9.9.9.9", "hosts: resolve dns", upstream) == ["192.0.2.1"])
        #expect(Self.servers("nameserver 9.9.9.9", "hosts: files dns", upstream) == ["9.9.9.9"])
    }

    @Test func `who does not ask servers has none`() {
        #expect(Self.servers("nameserver 192.0.2.1", "hosts: files") == nil)
        #expect(Self.servers("nameserver 192.0.2.1", "passwd: dns\n") == ["192.0.2.1"])
        let order = "# hosts: files\n hosts:  files mdns4_minimal [NOTFOUND=return] dns # no more\n"
        let configuration = ResolverConfiguration(resolv: "nameserver 192.0.2.1", order: order, upstream: nil)
        #expect(configuration.sources == ["files", "mdns4_minimal", "dns"])
        #expect(configuration.servers(for: "printer.local") == [])
        #expect(configuration.servers(for: "db.corp.local")?.count == 1)
        #expect(configuration.servers(for: "a.example")?.count == 1)
        let split = ResolverConfiguration(resolv: "", order: "hosts: dns [!UNAVAIL = return] files", upstream: nil)
        #expect(split.sources == ["dns", "files"])
    }
}
