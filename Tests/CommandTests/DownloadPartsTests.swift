import ReachabilityRequests
import ReachabilityRetry
import Testing

@testable import reachability_download

/// The pure parts of `reachability download`.
@Suite struct DownloadPartsTests {
    @Test(arguments: [
        (Int64(0), "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_999, "999.9 kB"), (1_000_000, "1.0 MB"),
        (270_040_000, "270.0 MB"), (12_300_000_000, "12.3 GB"), (Int64.max, "9223372.0 TB"),
    ])
    func `numbers of bytes`(bytes: Int64, text: String) { #expect(ByteText.text(bytes) == text) }

    /// What the environment has, what is asked for, and through which proxy.
    private static let cases: [(String, String, String?)] = [
        ("http_proxy=http://p:3128", "http://h.example/", "p:3128"),
        ("http_proxy=p:3128", "http://h.example/", "p:3128"),
        ("http_proxy=http://p", "http://h.example/", "p:80"),
        ("http_proxy=http://p", "https://h.example/", nil),
        ("https_proxy=http://p", "https://h.example/", "p:80"),
        ("HTTPS_PROXY=http://p", "https://h.example/", "p:80"),
        ("HTTP_PROXY=http://p", "http://h.example/", nil),
        ("http_proxy=http://p no_proxy=x,h.example", "http://h.example/", nil),
        ("http_proxy=http://p no_proxy=x,.example", "http://h.example/", nil),
        ("http_proxy=http://p no_proxy=ample", "http://h.example/", "p:80"),
        ("http_proxy=http://p no_proxy=h.example:81", "http://h.example/", nil),
        ("http_proxy=http://p NO_PROXY=*", "http://h.example/", nil),
        ("http_proxy=http://p no_proxy=::1", "http://[::1]/", nil),
    ]

    @Test(arguments: cases)
    func `which proxy the environment names`(environment: String, url: String, place: String?) throws {
        let pairs = environment.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        let variables = Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
        let proxy = try ProxySettings { variables[$0] }.proxy(for: try #require(RequestURL(url)))
        #expect(proxy.map { "\($0.host):\($0.port)" } == place)
    }

    @Test(arguments: ["socks5://p", "https://p", "http://", "ftp://p"])
    func `a proxy that cannot be spoken to is refused`(text: String) throws {
        let url = try #require(RequestURL("http://h.example/"))
        #expect(throws: (any Error).self) { try ProxySettings { $0 == "http_proxy" ? text : nil }.proxy(for: url) }
    }
}
