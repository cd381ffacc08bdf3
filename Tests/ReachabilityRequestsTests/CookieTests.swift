import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

struct CookieTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let url = parse("https://www.example.com/a/b/c?q")

    private static func parse(_ text: String) -> URL {
        URL(string: text) ?? URL(filePath: "/")
    }

    private static func storage() -> HTTPCookieStorage {
        HTTPCookieStorage(now: { now })
    }

    private static func sent(_ field: String, to url: String, setBy: URL = url) -> String? {
        let storage = storage()
        storage.keep([field], from: setBy.absoluteString)
        return storage.field(for: url)
    }

    @Test(arguments: [
        ("n=v", "n=v"), (" n = v ; ", "n=v"), ("n=\"v=1\"", "n=\"v=1\""), ("n=", "n="), ("n", nil),
        // A cookie without a name could imitate a cookie of any name.
        ("=v", nil), ("=__Host-n=v", nil),
        ("", nil), (";n=v", nil),
        ("n=v\u{301}", "n=v\u{301}"), ("n=a\r\nX: y", nil), ("n=a\u{0}", nil),
        ("n=" + String(repeating: "v", count: 4096), nil),
    ])
    func `a cookie requires a name, a value and permitted characters`(field: String, sent: String?) {
        #expect(Self.sent(field, to: "https://www.example.com/a/b/") == sent)
    }

    @Test(arguments: [
        ("n=v", "https://www.example.com/a/b/d", true),
        ("n=v", "https://www.example.com/a/bc", false),
        ("n=v", "https://sub.www.example.com/a/b/d", false),
        ("n=v; Domain=example.com", "https://other.example.com/a/b/", true),
        ("n=v; domain=.EXAMPLE.com", "https://example.com/a/b/", true),
        ("n=v; Domain=example.com", "https://badexample.com/a/b/", false),
        ("n=v; Domain=com", "https://www.example.com/a/b/", false),
        ("n=v; Domain=other.com", "https://other.com/a/b/", false),
        ("n=v; Domain=sub.www.example.com", "https://sub.www.example.com/a/b/", false),
        ("n=v; Path=/", "https://www.example.com", true),
        ("n=v; Path=/x", "https://www.example.com/x", true),
        ("n=v; Path=/x", "https://www.example.com/xy", false),
        ("n=v; Path=/x/", "https://www.example.com/x/y", true),
        ("n=v; Path=x", "https://www.example.com/a/b/", true),
        ("n=v; Secure", "http://www.example.com/a/b/", false),
        ("n=v", "http://www.example.com/a/b/", true),
        ("__Host-n=v; Secure; Path=/", "https://www.example.com/", true),
        ("__Host-n=v; Secure; Path=/; Domain=example.com", "https://www.example.com/", false),
        ("__Secure-n=v", "https://www.example.com/a/b/", false),
        ("n=v; Max-Age=10", "https://www.example.com/a/b/", true),
        ("n=v; Max-Age=0", "https://www.example.com/a/b/", false),
        ("n=v; Max-Age=-9223372036854775808", "https://www.example.com/a/b/", false),
        ("n=v; Max-Age=99999999999999999999999999", "https://www.example.com/a/b/", true),
        ("n=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://www.example.com/a/b/", false),
        ("n=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=5", "https://www.example.com/a/b/", true),
        ("n=v; Expires=Fri, 31 Dec 9999 23:59:59 GMT", "https://www.example.com/a/b/", true),
        ("n=v; Expires=yesterday", "https://www.example.com/a/b/", true),
    ])
    func `a cookie is sent only to its hosts and paths`(field: String, url: String, isSent: Bool) {
        #expect((Self.sent(field, to: url) != nil) == isSent)
    }

    @Test func `a server sets cookies only for its own address`() {
        let address = Self.parse("https://192.0.2.1/")
        #expect(Self.sent("n=v; Domain=2.1", to: "https://192.0.2.1/", setBy: address) == nil)
        #expect(Self.sent("n=v", to: "https://192.0.2.1/", setBy: address) == "n=v")
        let literal = Self.parse("https://[2001:db8::1]/")
        #expect(Self.sent("n=v", to: "https://[2001:db8::1]/x", setBy: literal) == "n=v")
    }

    @Test func `a server without TLS neither sets nor replaces secure cookies`() {
        let plain = Self.parse("http://www.example.com/")
        #expect(Self.sent("n=v; Secure", to: "https://www.example.com/", setBy: plain) == nil)
        let storage = Self.storage()
        storage.keep(["n=good; Secure; Path=/"], from: Self.url.absoluteString)
        storage.keep(["n=bad; Path=/"], from: plain.absoluteString)
        #expect(storage.field(for: Self.url.absoluteString) == "n=good")
    }

    @Test func `cookies are ordered by length of path and age, and a new value keeps the place`() throws {
        let storage = Self.storage()
        storage.keep(["a=1; Path=/", "b=2; Path=/a/b", "c=3; Path=/", "a=4; Path=/"], from: Self.url.absoluteString)
        #expect(storage.field(for: Self.url.absoluteString) == "b=2; a=4; c=3")
        storage.deleteCookie(try #require(storage.cookies?.first))
        #expect(storage.field(for: Self.url.absoluteString) == "b=2; c=3")
        storage.keep(["c=; Path=/; Max-Age=0"], from: Self.url.absoluteString)
        #expect(storage.field(for: Self.url.absoluteString) == "b=2")
        storage.removeCookies(since: .distantPast)
        #expect(storage.field(for: Self.url.absoluteString) == nil)
    }

    @Test func `the number of cookies is limited for each domain and in total`() throws {
        let storage = Self.storage()
        storage.keep(["kept=1"], from: "https://other.example/")
        storage.keep((0..<1000).map { "n\($0)=v; Path=/" }, from: Self.url.absoluteString)
        let names = try #require(storage.cookies).map(\.name)
        #expect(names.count == 51 && names.contains("n999") && !names.contains("n949") && names.first == "kept")
        for number in 0..<3010 { storage.keep(["n=v"], from: "https://host\(number).example/") }
        let all = try #require(storage.cookies)
        #expect(all.count == 3000 && !all.contains { $0.domain == "host9.example" || $0.name == "kept" })
        #expect(all.last?.domain == "host3009.example" && storage.field(for: "https://host3009.example/") == "n=v")
    }

    @Test func `a server without TLS does not shadow a secure cookie of a domain above or below`() {
        let storage = Self.storage()
        storage.keep(
            ["up=good; Secure; Domain=example.com; Path=/", "own=good; Secure; Path=/"],
            from: Self.url.absoluteString
        )
        storage.keep(
            ["up=bad; Path=/", "own=bad; Domain=example.com; Path=/", "new=1; Path=/"],
            from: "http://www.example.com/"
        )
        #expect(storage.field(for: Self.url.absoluteString) == "up=good; own=good; new=1")
    }

    @Test(
        arguments: [
            ("Wed, 09 Jun 2027 10:18:14 GMT", 1_812_536_294), ("Wed, 09-Jun-2027 10:18:14 GMT", 1_812_536_294),
            ("Wednesday, 09-Jun-27 10:18:14 GMT", 1_812_536_294), ("Wed Jun  9 10:18:14 2027", 1_812_536_294),
            ("2027 jUNe 9 10:18:14", 1_812_536_294), ("9/Jun/2027;10:18:14+0200", 1_812_536_294),
            ("1 Jan 70 0:0:0", 0), ("1 Jan 69 0:0:0", 3_124_224_000), ("Thu, 01-Jan-1970 00:00:00 GMT", 0),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 01 Jan 10000 00:00:00 GMT", nil), ("1 Jan 1600 0:0:0", nil), ("32 Jan 2027 0:0:0", nil),
            ("1 Jan 2027 24:0:0", nil), ("1 Jan 2027 0:60:0", nil), ("1 Jan 2027 0:0", nil), ("", nil), ("::", nil),
            ("999999999999999999999999", nil), ("1 Jan 2027 0:0:99999999999999999999", nil),
        ] as [(String, Double?)]
    )
    func `dates of cookies are parsed in any format of RFC 6265`(text: String, seconds: Double?) {
        #expect(CookieDate.date(text)?.timeIntervalSince1970 == seconds)
    }

    @Test func `no cookie lives longer than 400 days`() throws {
        let storage = Self.storage()
        storage.keep(
            ["a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", "b=1; Max-Age=1e99"],
            from: Self.url.absoluteString
        )
        storage.keep(["c=1; Max-Age=999999999999999"], from: Self.url.absoluteString)
        let ends = try #require(storage.cookies).map { $0.expiresDate?.timeIntervalSince(Self.now) }
        #expect(ends == [400 * 86400, nil, 400 * 86400])
    }

    @Test(arguments: [
        ("http://192.0.2.1/", "n=v; Domain=192.0.2.1", "http://192.0.2.1/", true),
        ("http://192.0.2.0x1/", "n=v; Domain=2.0x1", "http://198.51.2.0x1/", false),
        ("https://www.example.com./", "n=v; Domain=com.", "https://evil.com./", false),
        ("https://www.example.com/", "n=v; Domain=.", "https://sub.www.example.com/", false),
        ("https://www.example.com/", "n=v; Domain=..com", "https://evil.com/", false),
        ("https://com/", "n=v; Domain=com", "https://evil.com/", false),
        ("https://com/", "n=v", "https://evil.com/", false),
        ("https://www.example.com/", "n=v; Domain=", "https://sub.www.example.com/", false),
        ("https://www.example.com:8443/", "n=v", "https://www.example.com/", true),
        ("https://good.com@evil.com/", "n=v; Domain=good.com", "https://good.com/", false),
        ("https://example.com/", "n=v; Domain=example.com", "https://example.com.evil.org/", false),
        ("ftp://example.com/", "n=v", "https://example.com/", false),
        ("http://localhost/", "n=v; Secure", "http://localhost/", false),
        ("https://example.com/a/../b/c", "n=v", "https://example.com/a/../b/d", true),
        ("https://example.com/a/../b/c", "n=v", "https://example.com/b/d", false),
        ("https://example.com/", "n=v; Path=/../x", "https://example.com/x", false),
        ("https://example.com/", "n=v; Path=/a%2Fb", "https://example.com/a/b", false),
    ])
    func `no cookie is sent to another host`(from: String, field: String, to: String, isSent: Bool) {
        let storage = Self.storage()
        storage.keep([field], from: from)
        #expect((storage.field(for: to) != nil) == isSent)
    }

    @Test func `random fields never cause an invalid field Cookie or a cookie for another host`() {
        var random = SystemRandomNumberGenerator()
        let words = [
            "n", "=", ";", " ", "\t", "Domain", "Path", "/", ".", "com", "example", "Expires", "Max-Age", "-", "9", ":",
            "\u{0}",
            "\r\n", "\u{7f}", "é", "__Host-", "Secure", ",", "Jan",
        ]
        for _ in 0..<5000 {
            let field = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                words.randomElement(using: &random) ?? ""
            }
            let storage = Self.storage()
            storage.keep([field.joined()], from: "https://www.example.com/a")
            for url in ["https://www.example.com/a", "https://example.com/", "https://other.com/"] {
                let sent = storage.field(for: url) ?? ""
                #expect(!sent.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7f }, "\(field)")
                #expect(sent.isEmpty || !url.contains("other"), "\(field)")
            }
        }
    }

    @Test func `a cookie of the caller is sent like a cookie of a server`() {
        let storage = Self.storage()
        storage.setCookie(HTTPCookie(name: "n", value: "v", domain: ".Example.com", isSecure: true))
        #expect(storage.field(for: Self.url.absoluteString) == "n=v" && storage.cookies?.first?.isSessionOnly == true)
        #expect(storage.field(for: "http://www.example.com/") == nil)
    }

    @Test func `accept policies apply, and cookies can be removed by their time`() throws {
        let time = Locked(Self.now)
        let storage = HTTPCookieStorage(now: { time.withLock { $0 } })
        let cookie = HTTPCookie(name: "n", value: "v", domain: "example.com")
        storage.cookieAcceptPolicy = .never
        storage.setCookies([cookie], for: nil, mainDocumentURL: nil)
        storage.keep(["n=v"], from: Self.url.absoluteString)
        #expect(storage.cookies == [])
        storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
        storage.setCookies([cookie], for: nil, mainDocumentURL: URL(string: "https://other.com/"))
        #expect(storage.cookies == [])
        storage.setCookies([cookie], for: nil, mainDocumentURL: URL(string: "https://www.example.com/"))
        time.withLock { $0 += 10 }
        storage.setCookie(HTTPCookie(name: "m", value: "v", domain: "example.com", expiresDate: Self.now + 20))
        #expect(storage.cookies(for: Self.parse("https://example.com/"))?.count == 2)
        storage.removeCookies(since: Self.now + 5)
        #expect(storage.cookies == [cookie])
    }
}
