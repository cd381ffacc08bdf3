import TestSupport
import Testing

@testable import ServerTrustNIO

/// Valid and invalid URLs.
@Suite struct URLTests {
    struct Good: Sendable {
        let text: String
        let host: String
        let port: Int
        let target: String
        let authority: String

        init(_ text: String, _ host: String, _ port: Int, _ target: String, _ authority: String) {
            (self.text, self.host, self.port, self.target, self.authority) = (text, host, port, target, authority)
        }
    }

    static let good = [
        Good("http://example.org", "example.org", 80, "/", "example.org"),
        Good("HTTPS://Example.ORG/A?b=C#d", "example.org", 443, "/A?b=C", "example.org"),
        Good("https://example.org:443/", "example.org", 443, "/", "example.org"),
        Good("https://example.org:8443", "example.org", 8443, "/", "example.org:8443"),
        Good("http://example.org:/a", "example.org", 80, "/a", "example.org"),
        Good("http://example.org?a=/b@c", "example.org", 80, "/?a=/b@c", "example.org"),
        Good("http://example.org#a", "example.org", 80, "/", "example.org"),
        Good("http://192.0.2.1:81/a", "192.0.2.1", 81, "/a", "192.0.2.1:81"),
        Good("http://[2001:DB8::1]/a", "2001:db8::1", 80, "/a", "[2001:db8::1]"),
        Good("http://[2001:db8::1]:81/a", "2001:db8::1", 81, "/a", "[2001:db8::1]:81"),
        Good("http://[fe80::1%25eth0]/a", "fe80::1", 80, "/a", "[fe80::1]"),
        Good("https://bücher.example/ü?ü", "xn--bcher-kva.example", 443, "/%C3%BC?%C3%BC", "xn--bcher-kva.example"),
        Good("http://example.org./", "example.org", 80, "/", "example.org"),
        Good("http://example.org/a/../b//c;d=%20|{}", "example.org", 80, "/a/../b//c;d=%20|{}", "example.org"),
    ]

    @Test(arguments: good)
    func `a URL is split into its parts`(_ good: Good) throws {
        let url = try TrustedHTTPURL(good.text)
        #expect("\(url.host)" == good.host)
        #expect(url.port == good.port)
        #expect(url.target == good.target)
        #expect(url.authority == good.authority)
        #expect(try TrustedHTTPURL(url.description) == url)
    }

    @Test func `the lookup name keeps the trailing dot and the zone`() throws {
        #expect(try TrustedHTTPURL("http://example.org./").lookupName == "example.org.")
        #expect(try TrustedHTTPURL("http://[fe80::1%25eth0]/").lookupName == "fe80::1%eth0")
        #expect(try TrustedHTTPURL("http://[::1]/").lookupName == "::1")
        #expect(try TrustedHTTPURL("http://[::1]/").authorityWithPort == "[::1]:80")
        #expect(try TrustedHTTPURL("http://[fe80::1%25eth0]/").description == "http://[fe80::1%25eth0]/")
    }

    @Test(arguments: [
        "", "example.org", "//example.org/", "ftp://example.org/", "http:/example.org", "http:example.org", "http://",
        "https:///a", "http://:80/", "http://exa mple.org/", "http://example.org/a b", "http://example.org/\r\nX: y",
        "http://example.org/\u{7f}", "http://example.org:0/", "http://example.org:65536/", "http://example.org:8a/",
        "http://example.org:-1/", "http://example.org:+1/", "http://a:b:c/", "http://2001:db8::1/", "http://[::1/",
        "http://[::1]a/", "http://[::g]/", "http://[127.0.0.1]/", "http://[::1%25]/", "http://[::1%25a/b]/",
        "http://127.1/", "http://0x7f000001/", "http://exa%6dple.org/", "http://example..org/", "http://-a.org/",
        "http://user@example.org/", "http://user:password@example.org/", "http://example.org\\@evil.example/",
        "http://" + String(repeating: "a", count: 8192), "h\u{131}ttp://example.org/",
    ])
    func `an invalid URL is refused without printing its password`(_ text: String) {
        let error = #expect(throws: TrustedHTTPFailure.self) { try TrustedHTTPURL(text) }
        #expect(error.map { caseName($0) } == "invalidURL")
        #expect(!"\(String(describing: error))".contains("password"))
    }
}
