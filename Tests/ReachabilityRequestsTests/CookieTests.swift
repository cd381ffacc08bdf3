import FoundationEssentials
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
        storage.setCookies([field], for: setBy)
        return storage.field(for: Self.parse(url))
    }

    @Test(arguments: [
        ("n=v", "n=v"), (" n = v ; ", "n=v"), ("n=\"v=1\"", "n=\"v=1\""), ("=v", "v"), ("n=", "n="), ("n", nil),
        ("", nil), (";n=v", nil),
        ("n=v\u{301}", "n=v\u{301}"), ("n=a\r\nX: y", nil), ("n=a\u{0}", nil),
        ("n=" + String(repeating: "v", count: 4096), nil),
    ])
    func `a cookie is a name and a value`(field: String, sent: String?) {
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
    func `a cookie is sent to the hosts and paths that it is for`(field: String, url: String, isSent: Bool) {
        #expect((Self.sent(field, to: url) != nil) == isSent)
    }

    @Test func `a server sets no cookies for an address that it is not`() {
        let address = Self.parse("https://192.0.2.1/")
        #expect(Self.sent("n=v; Domain=2.1", to: "https://192.0.2.1/", setBy: address) == nil)
        #expect(Self.sent("n=v", to: "https://192.0.2.1/", setBy: address) == "n=v")
        let literal = Self.parse("https://[2001:db8::1]/")
        #expect(Self.sent("n=v", to: "https://[2001:db8::1]/x", setBy: literal) == "n=v")
    }

    @Test func `without TLS a server sets no secure cookie and replaces none`() {
        let plain = Self.parse("http://www.example.com/")
        #expect(Self.sent("n=v; Secure", to: "https://www.example.com/", setBy: plain) == nil)
        let storage = Self.storage()
        storage.setCookies(["n=good; Secure; Path=/"], for: Self.url)
        storage.setCookies(["n=bad; Path=/"], for: plain)
        #expect(storage.field(for: Self.url) == "n=good")
    }

    @Test func `longer paths come first, then older cookies, and a new value keeps the place`() {
        let storage = Self.storage()
        storage.setCookies(["a=1; Path=/", "b=2; Path=/a/b", "c=3; Path=/", "a=4; Path=/"], for: Self.url)
        #expect(storage.field(for: Self.url) == "b=2; a=4; c=3")
        storage.deleteCookie(storage.cookies[0])
        #expect(storage.field(for: Self.url) == "b=2; c=3")
        storage.setCookies(["c=; Path=/; Max-Age=0"], for: Self.url)
        #expect(storage.field(for: Self.url) == "b=2")
        storage.removeAll()
        #expect(storage.field(for: Self.url) == nil)
    }

    @Test func `the number of cookies is bounded by domain`() {
        let storage = Self.storage()
        storage.setCookies(["kept=1"], for: Self.parse("https://other.example/"))
        storage.setCookies((0..<1000).map { "n\($0)=v; Path=/" }, for: Self.url)
        #expect(storage.cookies.count == 51)
        #expect(storage.cookies.contains { $0.name == "n999" } && !storage.cookies.contains { $0.name == "n949" })
    }

    @Test func `a cookie of the caller is sent as one of a server`() {
        let storage = Self.storage()
        storage.setCookie(HTTPCookie(name: "n", value: "v", domain: ".example.com", path: "/", isSecure: true))
        #expect(storage.field(for: Self.url) == "n=v")
        #expect(storage.field(for: Self.parse("http://www.example.com/")) == nil)
    }
}
