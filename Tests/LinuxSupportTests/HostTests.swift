import LinuxSupport
import Testing

/// The grammar of hosts, which managers and retries use.
@Suite struct HostTests {
    @Test(
        arguments: [
            "localhost", "example.org", "example.org.", "a-b.c_d.x1", "xn--bcher-kva.example", "bücher.example",
            "例え.テスト", "例え。テスト", "BÜCHER.example.", String(repeating: "ü", count: 50) + ".example",
        ]
    )
    func `a valid host name is accepted`(text: String) {
        #expect(HostName.isValid(text))
    }

    @Test(
        arguments: [
            "", ".", "a..b", "http://example.org", "example.org:80", "example.org/", "a b", " a", "-a.org", "a-.org",
            "10.1", "1234", "user@example.org", String(repeating: "a", count: 64),
            // Labels that are too long after encoding, or that cannot be encoded.
            String(repeating: "漢字", count: 30), "☎.example", "-ü.example", "\u{301}a.example",
            Array(repeating: "abcdefgh", count: 30).joined(separator: "."),
        ]
    )
    func `an invalid host name is refused`(text: String) {
        #expect(!HostName.isValid(text))
    }

    @Test(
        arguments: [
            "example.org", "192.0.2.1", "2001:db8::1", "fe80::1%eth0", "169.254.0.1", "0.0.0.0", "192.0.2.1%red",
        ]
    )
    func `a valid host is accepted`(text: String) throws {
        try HostError.check(text)
    }

    @Test(
        arguments: [
            ("", HostError.invalid("")), ("http://example.org", .invalid("http://example.org")),
            ("[::1]", .invalid("[::1]")), ("fe80::1%", .invalid("fe80::1%")),
            ("FE80:0::1", .zoneRequired("fe80::1")), ("☎.example", .invalid("☎.example")),
        ]
    )
    func `an invalid host is refused with the reason`(text: String, error: HostError) {
        #expect(throws: error) { try HostError.check(text) }
    }
}

@Suite("Addresses")
struct WireAddressTests {
    @Test(arguments: ["0.0.0.0", "255.255.255.255", "192.0.2.1", "::", "::1", "2001:db8::ff00:42:8329"])
    func `an address can be converted to text and bytes`(text: String) throws {
        let address = try #require(WireAddress(text))
        #expect(address.description == text)
        #expect(WireAddress(bytes: address.bytes) == address)
        #expect(address.bytes.count == address.family.byteCount)
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17])
    func `any other number of bytes is not an address`(count: Int) {
        #expect(WireAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.0", 24, true), ("192.0.3.1", "192.0.2.0", 24, false),
            ("8.8.8.8", "0.0.0.0", 0, true),
            ("2001:db8::1", "2001:db8::", 32, true), ("2001:db9::1", "2001:db8::", 32, false), ("::1", "::", 0, true),
            ("8.8.8.8", "::", 0, false), ("192.0.2.1", "192.0.2.1", 32, true), ("192.0.2.2", "192.0.2.1", 32, false),
        ]
    )
    func `a prefix covers its addresses`(address: String, prefix: String, length: Int, isCovered: Bool) throws {
        let address = try #require(WireAddress(address))
        let prefix = try #require(WireAddress(prefix))
        #expect(address.isCovered(by: prefix, length: length) == isCovered)
    }

    @Test func `special addresses are recognized`() {
        #expect(WireAddress("169.254.1.1")?.isLinkLocal == true)
        #expect(WireAddress("fe80::1")?.isLinkLocal == true)
        #expect(WireAddress("febf::1")?.isLinkLocal == true)
        #expect(WireAddress("fec0::1")?.isLinkLocal == false)
        #expect(WireAddress("127.1.2.3")?.isLoopback == true)
        #expect(WireAddress("224.0.0.251")?.isMulticast == true)
        #expect(WireAddress("ff02::fb")?.isMulticast == true)
        #expect(WireAddress("::ffff:192.0.2.1")?.unmapped == WireAddress("192.0.2.1"))
        #expect(WireAddress("2001:db8::1")?.unmapped == WireAddress("2001:db8::1"))
    }
}
