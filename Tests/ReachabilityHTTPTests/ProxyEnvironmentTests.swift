import AsyncHTTPClient
import Testing

@testable import ReachabilityHTTP

/// The proxy settings in the environment.
@Suite struct ProxyEnvironmentTests {
    private typealias Proxy = HTTPClient.Configuration.Proxy

    private static func way(to url: String, _ environment: [String: String]) -> ProxyEnvironment.ProxyUse {
        ProxyEnvironment { environment[$0] }.proxyUse(to: url)
    }

    @Test func `each scheme has a variable, and ALL_PROXY applies to the others`() {
        let environment = ["http_proxy": "http://one:1", "HTTPS_PROXY": "two:2"]
        #expect(Self.way(to: "http://example.org/", environment) == .proxy(.server(host: "one", port: 1)))
        #expect(Self.way(to: "https://example.org/", environment) == .proxy(.server(host: "two", port: 2)))
        #expect(Self.way(to: "https://example.org/", ["http_proxy": "one", "https_proxy": ""]) == .direct)
        let other = ["ALL_PROXY": "HTTP://Other/", "https_proxy": ""]
        #expect(Self.way(to: "https://example.org/", other) == .proxy(.server(host: "other", port: 80)))
        #expect(Self.way(to: "http://example.org/", [:]) == .direct)
        // HTTP_PROXY is ignored, because clients of a CGI program can set it with a header field.
        #expect(Self.way(to: "http://example.org/", ["HTTP_PROXY": "one"]) == .direct)
    }

    @Test func `the reachability of a host is that of its proxy`() {
        let proxies = ProxyEnvironment { ["http_proxy": "one", "no_proxy": "example.org"][$0] }
        #expect(
            proxies.connectionHost(for: "example.net") == "one"
                && proxies.connectionHost(for: "www.example.org") == "www.example.org"
        )
        #expect(
            ProxyEnvironment { ["http_proxy": "ftp://one"][$0] }.connectionHost(for: "example.net") == "example.net"
        )
    }

    @Test func `a proxy can have a port, an IPv6 address, a user and the scheme SOCKS`() {
        let ways: [(String, Proxy)] = [
            ("http://[2001:db8::1]:3128", .server(host: "2001:db8::1", port: 3128)),
            ("http://proxy:443/", .server(host: "proxy", port: 443)),
            (
                "http://a:b%3a%zz@proxy",
                .server(host: "proxy", port: 80, authorization: .basic(username: "a", password: "b:%zz"))
            ),
            ("a@proxy:8080", .server(host: "proxy", port: 8080, authorization: .basic(username: "a", password: ""))),
            ("socks5h://proxy", .socksServer(host: "proxy", port: 1080)),
            ("socks5://proxy:80", .socksServer(host: "proxy", port: 80)),
        ]
        for (text, proxy) in ways {
            #expect(Self.way(to: "https://example.org/", ["https_proxy": text]) == .proxy(proxy), "\(text)")
        }
    }

    @Test(arguments: [
        "https://a:hush@b", "socks4://hush", "socks5://hush:hush@b", "http://", "hush:99999", "http://hush:x",
    ])
    func `an invalid proxy is reported without its value`(text: String) throws {
        guard case .unusable(let reason) = Self.way(to: "https://example.org/", ["https_proxy": text]) else {
            Issue.record("\(text) is taken")
            return
        }
        #expect(reason.hasPrefix("https_proxy ") && !reason.contains("hush"))
    }

    @Test(arguments: [
        ("example.org", "example.org", true), ("example.org", "www.EXAMPLE.org", true),
        (".example.org", "example.org", true),
        ("example.org", "example.org.", true), ("example.org", "notexample.org", false),
        ("org.,x", "example.org", true),
        ("*", "example.org", true), ("*.org", "example.org", false), ("a, *", "b", false), ("", "example.org", false),
        ("x 192.0.2.0/24", "192.0.2.9", true), ("192.0.2.0/24", "192.0.3.9", false),
        ("192.0.2.0/33", "192.0.2.9", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.11", false), ("[2001:db8::1]", "2001:db8:0::1", true),
        ("2001:db8::/32", "2001:db8:7::1", true), ("0.2.1", "192.0.2.1", false), (".", "example.org", false),
    ])
    func `no_proxy contains domains, addresses and networks`(list: String, host: String, isListed: Bool) {
        #expect(ProxyExceptions(list).contains(host) == isListed)
    }
}
