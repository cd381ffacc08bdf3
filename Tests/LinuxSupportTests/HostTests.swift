import LinuxSupport
import Testing

/// The one grammar of hosts, which managers and retries go by.
@Suite struct HostTests {
    @Test(
        "Names",
        arguments: [
            "localhost", "example.org", "example.org.", "a-b.c_d.x1", "xn--bcher-kva.example", "bücher.example",
            "例え.テスト", "例え。テスト", "BÜCHER.example.", String(repeating: "ü", count: 50) + ".example",
        ]
    )
    func names(text: String) {
        #expect(HostName.isValid(text))
    }

    @Test(
        "What is no name",
        arguments: [
            "", ".", "a..b", "http://example.org", "example.org:80", "example.org/", "a b", " a", "-a.org", "a-.org",
            "10.1", "1234", "user@example.org", String(repeating: "a", count: 64),
            // Encoded they are longer than a label may be, or cannot be encoded.
            String(repeating: "漢字", count: 30), "☎.example", "-ü.example", "\u{301}a.example",
            Array(repeating: "abcdefgh", count: 30).joined(separator: "."),
        ]
    )
    func notNames(text: String) {
        #expect(!HostName.isValid(text))
    }

    @Test(
        "What names a host",
        arguments: [
            "example.org", "192.0.2.1", "2001:db8::1", "fe80::1%eth0", "169.254.0.1", "0.0.0.0", "192.0.2.1%red",
        ]
    )
    func hosts(text: String) throws {
        try HostError.check(text)
    }

    @Test(
        "What names none, and why",
        arguments: [
            ("", HostError.invalid("")), ("http://example.org", .invalid("http://example.org")),
            ("[::1]", .invalid("[::1]")), ("fe80::1%", .invalid("fe80::1%")),
            ("FE80:0::1", .zoneRequired("fe80::1")), ("☎.example", .invalid("☎.example")),
        ]
    )
    func errors(text: String, error: HostError) {
        #expect(throws: error) { try HostError.check(text) }
    }
}
