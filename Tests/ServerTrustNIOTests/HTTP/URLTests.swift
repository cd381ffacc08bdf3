import Testing

@testable import ServerTrustNIO

/// Which texts are URLs, and what they mean.
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
    func urls(_ good: Good) throws {
        let url = try TrustedHTTPURL(good.text)
        #expect("\(url.host)" == good.host)
        #expect(url.port == good.port)
        #expect(url.target == good.target)
        #expect(url.authority == good.authority)
        #expect(try TrustedHTTPURL(url.description) == url)
    }

    @Test func whatIsLookedUp() throws {
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
    func noURLs(_ text: String) {
        let error = #expect(throws: TrustedHTTPFailure.self) { try TrustedHTTPURL(text) }
        guard case .invalidURL? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!"\(String(describing: error))".contains("password"))
    }

    /// RFC 3986, 5.4.1 and 5.4.2, and what there is in other schemes.
    @Test(arguments: [
        ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"),
        ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"),
        ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"),
        ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"), ("../../../../g", "/g"),
        ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"),
        ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"),
        ("g;x=1/../y", "/b/c/y"), ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("./a:b", "/b/c/a:b"),
    ])
    func references(_ reference: String, _ target: String) throws {
        let base = try TrustedHTTPURL("http://a:81/b/c/d;p?q")
        #expect(try base.resolving(reference).description == "http://a:81\(target)")
    }

    @Test func absoluteReferences() throws {
        let base = try TrustedHTTPURL("https://[fe80::1%25eth0]:81/b/c")
        #expect(try base.resolving("g").description == "https://[fe80::1%25eth0]:81/b/g")
        #expect(try base.resolving("//other.example/g").description == "https://other.example/g")
        #expect(try base.resolving("http://other.example").description == "http://other.example/")
        #expect(throws: TrustedHTTPFailure.self) { try base.resolving("javascript:alert(1)") }
        #expect(throws: TrustedHTTPFailure.self) { try base.resolving("//user@other.example/") }
    }

    @Test func origins() throws {
        let base = try TrustedHTTPURL("https://a.example/b")
        for same in ["https://A.example:443/c", "HTTPS://a.example"] {
            #expect(try TrustedHTTPURL(same).hasOrigin(of: base))
        }
        for other in ["http://a.example/b", "https://a.example:444/b", "https://b.a.example/b", "https://a.example./b"]
        {
            #expect(try !TrustedHTTPURL(other).hasOrigin(of: base))
        }
    }
}
