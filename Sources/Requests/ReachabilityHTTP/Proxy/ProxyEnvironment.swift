package import AsyncHTTPClient
import LinuxPrimitives
import ReachabilityRetry

/// Which proxy the environment names for a URL, as curl reads it.
///
/// | Variable | For |
/// |---|---|
/// | `http_proxy`, in lower case only: a web server sets the other from a header of whoever asks (CVE-2016-5385) | `http` |
/// | `https_proxy`, else `HTTPS_PROXY` | `https` |
/// | `all_proxy`, else `ALL_PROXY` | what has none of these |
/// | `no_proxy`, else `NO_PROXY` | hosts without: see ``ProxyExceptions`` |
///
/// An empty variable is as none. A proxy is `[http://][user:password@]host[:port]`, with port 80 where none is named, or `socks5://host[:port]`,
/// or `socks5h`, with port 1080; in both the proxy looks names up.
package struct ProxyEnvironment: Sendable {
    /// How to get to a server.
    package enum Way: Hashable, Sendable {
        /// Without a proxy.
        case direct
        /// Through a proxy.
        case proxy(HTTPClient.Configuration.Proxy)
        /// Through a proxy that cannot be used; the sentence says why and what to do, and has nothing of the variable's value, which
        /// may have a password.
        case unusable(String)
    }

    private let ways: [String: Way]
    private let exceptions: ProxyExceptions

    /// - Parameter variable: The value of a variable of the environment.
    package init(_ variable: (String) -> String? = EnvironmentVariable.value(of:)) {
        func first(_ names: [String]) -> Way? {
            for name in names {
                if let value = variable(name), !value.isEmpty { return Self.way(value, in: name) }
            }
            return nil
        }
        let others = ["all_proxy", "ALL_PROXY"]
        ways = [
            "http": first(["http_proxy"] + others) ?? .direct,
            "https": first(["https_proxy", "HTTPS_PROXY"] + others) ?? .direct,
        ]
        let lists = ["no_proxy", "NO_PROXY"].compactMap { variable($0) }.filter { !$0.isEmpty }
        exceptions = ProxyExceptions(lists.first ?? "")
    }

    /// How to get to the server of an absolute URL; directly where it cannot be read.
    package func way(to url: String) -> Way {
        guard let url = RequestURL(url), let way = ways[url.scheme], !exceptions.contains(url.host) else {
            return .direct
        }
        return way
    }

    /// Whose reachability decides whether a host, in lower case, can be asked: the proxy's where either scheme has one, else the host's.
    package func asked(for host: String) -> String {
        guard !exceptions.contains(host) else { return host }
        for case .proxy(let proxy)? in [ways["https"], ways["http"]] { return proxy.host }
        return host
    }

    private static func way(_ value: String, in name: String) -> Way {
        let parts = value.firstRange(of: "://").map { (value[..<$0.lowerBound].lowercased(), value[$0.upperBound...]) }
        let (scheme, rest) = parts ?? ("http", value[...])
        guard ["http", "socks5", "socks5h"].contains(scheme) else {
            return .unusable("\(name) names a proxy that is neither http:// nor socks5://: name such a one")
        }
        // Where a port is named it is the same under both schemes.
        guard let one = RequestURL("http://\(rest)"), let other = RequestURL("https://\(rest)") else {
            return .unusable("\(name) names no proxy: write http://host:port")
        }
        let port = one.port == other.port ? one.port : scheme == "http" ? 80 : 1080
        guard scheme == "http" else {
            guard one.userInfo == nil else {
                return .unusable(
                    "\(name) has a user for a SOCKS proxy, which is not supported: name one that asks for none"
                )
            }
            return .proxy(.socksServer(host: one.host, port: port))
        }
        return .proxy(.server(host: one.host, port: port, authorization: one.userInfo.map(authorization)))
    }

    private static func authorization(_ userInfo: String) -> HTTPClient.Authorization {
        let parts = userInfo.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return .basic(username: decoded(parts[0]), password: parts.count > 1 ? decoded(parts[1]) : "")
    }

    /// Without percent-encoding (RFC 3986, section 2.1); a percent sign that begins no such thing stays.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
