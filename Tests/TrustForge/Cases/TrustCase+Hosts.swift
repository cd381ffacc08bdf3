import ServerTrust
import SwiftASN1
import X509

extension TrustCase {
    static let hosts: [TrustCase] = [
        host("wrong host", ["example.com"], for: "example.org", matches: false),
        host("one of several names", ["a.example.org", "example.org"], for: "example.org"),
        host("upper and lower case", ["EXAMPLE.org"], for: "Example.ORG"),
        host("a dot at the end of the host", ["example.org"], for: "example.org."),
        host(
            "a dot at the end of the name in the certificate",
            ["example.org."],
            for: "example.org",
            matches: false
        ),
        host("a subdomain of the name", ["example.org"], for: "www.example.org", matches: false),
        host("a parent of the name", ["www.example.org"], for: "example.org", matches: false),
        host("an underscore", ["my_host.example.org"], for: "my_host.example.org"),
        host("a wildcard", ["*.example.org"], for: "www.example.org"),
        host("a wildcard in different letter case", ["*.Example.Org"], for: "WWW.example.org"),
        host("a wildcard for two labels", ["*.example.org"], for: "a.b.example.org", matches: false),
        host("a wildcard for no label", ["*.example.org"], for: "example.org", matches: false),
        host("a wildcard for a top-level domain", ["*.org"], for: "example.org", matches: false),
        host("a wildcard for everything", ["*"], for: "example.org", matches: false),
        host("a wildcard in a label", ["w*.example.org"], for: "www.example.org", matches: false, openSSL: partial),
        host(
            "a wildcard at the end of a label",
            ["*w.example.org"],
            for: "www.example.org",
            matches: false,
            openSSL: partial
        ),
        host("a wildcard in the middle", ["www.*.org"], for: "www.example.org", matches: false),
        host("two wildcards", ["*.*.example.org"], for: "a.b.example.org", matches: false),
        host("a wildcard for an A-label", ["*.example.org"], for: "bücher.example.org"),
        host("an internationalized name", ["xn--bcher-kva.example"], for: "bücher.example"),
        host("an internationalized name in capitals", ["xn--bcher-kva.example"], for: "BÜCHER.Example"),
        host("an internationalized name, decomposed", ["xn--bcher-kva.example"], for: "bu\u{308}cher.example"),
        host("an internationalized name as A-label", ["XN--bcher-kva.example"], for: "xn--bcher-KVA.example"),
        host(
            "an internationalized name, other characters",
            ["xn--bcher-kva.example"],
            for: "bucher.example",
            matches: false
        ),
        host("an ideographic full stop", ["xn--fiqs8s.example"], for: "中国。example"),
        host("a zero byte in the name", ["example.org\0.evil.example"], for: "example.org", matches: false),
        host("a blank in the name", ["example.org "], for: "example.org", matches: false),
        host("an address as a host name", ["192.0.2.1"], for: "192.0.2.1", matches: false),
        host("a wildcard for addresses", ["*.0.2.1"], for: "192.0.2.1", matches: false),
        named("an IPv4 address", [address(192, 0, 2, 1)], for: "192.0.2.1"),
        named(
            "another IPv4 address",
            [address(192, 0, 2, 2)],
            for: "192.0.2.1",
            .hostMismatch(names: ["192.0.2.2"])
        ),
        named("an IPv6 address", [ipv6], for: "2001:db8::1"),
        named("an IPv6 address written out", [ipv6], for: "2001:0DB8:0:0:0:0:0:1"),
        named("an IPv6 address in brackets", [ipv6], for: "[2001:db8::1]"),
        named(
            "an IPv6 address with a zone",
            [address(0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)],
            for: "fe80::1%eth0"
        ),
        named(
            "an IPv4 address where IPv6 is meant",
            [address(192, 0, 2, 1)],
            for: "::ffff:192.0.2.1",
            .hostMismatch(names: ["192.0.2.1"])
        ),
        named(
            "a host name where the certificate has an address",
            [address(192, 0, 2, 1)],
            .hostMismatch(names: ["192.0.2.1"]),
            openSSL: commonName
        ),
        TrustCase("an address where the certificate has a host name") {
            $0.host = "192.0.2.1"
            $0.refuse(.hostMismatch(names: ["example.org"]))
        },
        named("only the common name is right", [], .noSubjectAlternativeName(subject: World.host), openSSL: commonName),
        named(
            "the common name is right, the alternative name is not",
            [.dnsName("example.com")],
            .hostMismatch(names: ["example.com"])
        ),
        named(
            "the name is in a mail address",
            [.rfc822Name("example.org")],
            .noSubjectAlternativeName(subject: World.host),
            openSSL: commonName
        ),
        named(
            "the name is in a URI",
            [.uniformResourceIdentifier("https://example.org/")],
            .noSubjectAlternativeName(subject: World.host),
            openSSL: commonName
        ),
        leaf("no subject, a critical alternative name") { $0.hasSubject = false },
        invalid("", "no host"),
        invalid("exa mple.org", "a host with a blank"),
        invalid("127.1", "a shortened address"),
        invalid("0x7f.0x1", "a hexadecimal address"),
        invalid("example..org", "an empty label"),
        invalid("https://example.org", "a URL"),
        invalid("example.org:443", "a port"),
        invalid("example.org\0.evil.example", "a host with a zero byte"),
        TrustCase("wrong host, not verified") {
            $0.send(World.leaf(names: [.dnsName("example.com")]), World.intermediate)
            $0.evaluator = DefaultTrustEvaluator(validateHost: false)
            $0.openSSL = .cannotSay
        },
    ]

    private static let partial = OpenSSL.differs("RFC 9525, 6.3: the star is a whole label")
    private static let commonName = OpenSSL.differs("RFC 9525, 2: common names do not count")
    private static let ipv6 = address(0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)

    private static func host(
        _ name: String,
        _ names: [String],
        for host: String,
        matches: Bool = true,
        openSSL: OpenSSL = .agrees
    ) -> TrustCase {
        let failure = matches ? nil : TrustFailure.hostMismatch(names: names)
        return named(name, names.map { .dnsName($0) }, for: host, failure, openSSL: openSSL)
    }

    private static func named(
        _ name: String,
        _ names: [GeneralName],
        for host: String = World.host,
        _ failure: TrustFailure? = nil,
        openSSL: OpenSSL = .agrees
    ) -> TrustCase {
        leaf(name, failure, openSSL: openSSL, host: host) { $0.names = names }
    }

    private static func invalid(_ host: String, _ name: String) -> TrustCase {
        TrustCase(name) {
            $0.host = host
            $0.refuse(.invalidHost(host))
            $0.openSSL = .cannotSay
        }
    }
}
