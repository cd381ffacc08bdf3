import ServerTrust
import Testing

/// The canonical form of host names, and the host patterns of managers.
@Suite struct HostTests {
    @Test(arguments: [
        ("Example.ORG.", "example.org"), ("bücher.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"), ("faß.de", "xn--fa-hia.de"),
        ("παράδειγμα.δοκιμή", "xn--hxajbheg2az3al.xn--jxalpdlp"), ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"), ("中文.example", "xn--fiq228c.example"),
        ("Ä.example", "xn--4ca.example"), ("\u{212a}.example", "k.example"),
        ("2001:DB8::0:1", "2001:db8::1"), ("[::1]", "::1"), ("192.0.2.1", "192.0.2.1"), ("a_b.example", "a_b.example"),
    ])
    func `a host is converted to its canonical form`(_ text: String, _ expected: String) throws {
        #expect(try ServerHost(text).description == expected)
    }

    @Test(arguments: [
        "", ".", "..", "a..b", ".a", "-a.example", "a-.example", "1.2.3", "1.2.3.4.5", "256.1.1.1", "0x7f000001",
        "a.0x1",
        "a b", "a/b", "a:1", "[192.0.2.1]", "[example.org]", "[::1", "::1]", "ｅxample.org", "☃.example",
        "\u{301}a.example",
        "ab--cü.example", "ü-.example", String(repeating: "a", count: 64) + ".example",
        Array(repeating: "abcdefg", count: 32).joined(separator: "."), "a\0b", "*.example.org",
    ])
    func `an invalid host is refused`(_ text: String) {
        #expect(throws: TrustFailure.invalidHost(text)) { try ServerHost(text) }
    }

    @Test(arguments: [
        ("example.com", "example.com", true), ("EXAMPLE.com", "example.COM.", true),
        ("example.com", "a.example.com", false),
        ("*.example.com", "a.example.com", true), ("*.example.com", "example.com", false),
        ("*.example.com", "a.b.example.com", false), ("**.example.com", "example.com", true),
        ("**.example.com", "a.example.com", true), ("**.example.com", "a.b.example.com", true),
        ("**.example.com", "anexample.com", false), ("192.0.2.1", "192.0.2.1", true),
        ("2001:db8::1", "[2001:db8:0:0::1]", true), ("**.bücher.example", "www.xn--bcher-kva.example", true),
    ])
    func `a pattern matches the documented hosts`(_ pattern: String, _ host: String, _ matches: Bool) throws {
        #expect(try HostPattern(pattern).matches(try ServerHost(host)) == matches)
    }

    @Test(arguments: [
        "", "*", "**", "*.", "a.*.example", "***.example.com", "*example.com", "*.192.0.2.1", "http://a.b",
    ])
    func `an invalid pattern is refused`(_ pattern: String) {
        #expect(throws: TrustFailure.invalidPattern(pattern)) { try HostPattern(pattern) }
    }
}
