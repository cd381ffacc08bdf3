package import AsyncHTTPClient
import LinuxSupport
import ReachabilityRetry

/// The proxies in the environment variables, with curl's rules.
///
/// | Variable | For |
/// |---|---|
/// | `http_proxy`, in lower case only: a web server sets `HTTP_PROXY` from a header of the client (CVE-2016-5385) | `http` |
/// | `https_proxy`, else `HTTPS_PROXY` | `https` |
/// | `all_proxy`, else `ALL_PROXY` | schemes without a variable of their own |
/// | `no_proxy`, else `NO_PROXY` | hosts without: see ``ProxyExceptions`` |
///
/// An empty variable counts as unset. A proxy is `[http://][user:password@]host[:port]`, with port 80 by default, or `socks5://host[:port]`,
/// or `socks5h`, with port 1080; in both the proxy looks names up.
package struct ProxyEnvironment: Sendable {
    /// The use of a proxy for a server.
    package enum ProxyUse: Hashable, Sendable {
        /// The server is contacted without a proxy.
        case direct
        /// The server is contacted through a proxy.
        case proxy(HTTPClient.Configuration.Proxy)
        /// The proxy cannot be used. The text contains the reason and a remedy. It does not contain the variable's
        /// value, which may include a password.
        case unusable(String)
    }

    private let uses: [String: ProxyUse]
    private let exceptions: ProxyExceptions

    /// Creates the proxies from environment variables.
    ///
    /// - Parameter variable: Returns the value of an environment variable.
    package init(_ variable: (String) -> String? = EnvironmentVariable.value(of:)) {
        func first(_ names: [String]) -> ProxyUse? {
            for name in names {
                if let value = variable(name), !value.isEmpty { return Self.use(value, in: name) }
            }
            return nil
        }
        let others = ["all_proxy", "ALL_PROXY"]
        uses = [
            "http": first(["http_proxy"] + others) ?? .direct,
            "https": first(["https_proxy", "HTTPS_PROXY"] + others) ?? .direct,
        ]
        let lists = ["no_proxy", "NO_PROXY"].compactMap { variable($0) }.filter { !$0.isEmpty }
        exceptions = ProxyExceptions(lists.first ?? "")
    }

    /// Returns the use of a proxy for an absolute URL; `direct` if the URL is invalid.
    package func proxyUse(to url: String) -> ProxyUse {
        guard let url = RequestURL(url), let use = uses[url.scheme], !exceptions.contains(url.host) else {
            return .direct
        }
        return use
    }

    /// Returns the host whose reachability is used for a host in lower case: the proxy if one of the schemes has one,
    /// otherwise the host itself.
    package func connectionHost(for host: String) -> String {
        guard !exceptions.contains(host) else { return host }
        for case .proxy(let proxy)? in [uses["https"], uses["http"]] { return proxy.host }
        return host
    }

    private static func use(_ value: String, in name: String) -> ProxyUse {
        let parts = value.firstRange(of: "://").map { (value[..<$0.lowerBound].lowercased(), value[$0.upperBound...]) }
        let (scheme, rest) = parts ?? ("http", value[...])
        guard ["http", "socks5", "socks5h"].contains(scheme) else {
            return .unusable("\(name) names a proxy that is neither http:// nor socks5://; use one of these schemes")
        }
        // A port in the text is the same under both schemes.
        guard let one = RequestURL("http://\(rest)"), let other = RequestURL("https://\(rest)") else {
            return .unusable("\(name) names no valid proxy; use the form http://host:port")
        }
        let port = one.port == other.port ? one.port : scheme == "http" ? 80 : 1080
        guard scheme == "http" else {
            guard one.userInfo == nil else {
                return .unusable(
                    "\(name) has a user for a SOCKS proxy, which is not supported; remove the user"
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

    /// Returns the text with decoded percent signs. Invalid percent signs are kept.
    private static func decoded(_ text: Substring) -> String {
        String(decoding: text.percentDecoded(keepingInvalid: true) ?? [], as: UTF8.self)
    }
}

/// The hosts in `no_proxy`, separated by commas or blanks, with curl's rules.
///
/// | Entry | Hosts |
/// |---|---|
/// | `*` alone | all |
/// | `example.org`, `.example.org` | the name and all names below it |
/// | `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]` | that address |
/// | `192.0.2.0/24`, `2001:db8::/32` | the addresses in the network |
///
/// Names are not resolved, so an address in the list does not match a host that is given by name.
package struct ProxyExceptions: Sendable {
    private let hasAll: Bool
    private let names: [String]
    private let prefixes: [AddressPrefix]

    /// Parses a list. An entry that is not an address or a prefix is a name.
    package init(_ list: String) {
        let entries = list.unicodeScalars.split { $0 == "," || $0.properties.isWhitespace }
            .map { Substring($0).lowercased() }
        hasAll = entries == ["*"]
        prefixes = entries.compactMap(Self.prefix)
        names = entries.filter { Self.prefix($0) == nil }.map { Self.name($0) }.filter { !$0.isEmpty }
    }

    /// Returns whether a host, without the brackets of an IPv6 address, is contacted without a proxy.
    package func contains(_ host: String) -> Bool {
        if hasAll { return true }
        if let address = AddressLiteral(host)?.wire { return prefixes.contains { $0.contains(address) } }
        let host = Self.name(host.lowercased())
        return names.contains { host == $0 || host.hasSuffix(".\($0)") }
    }

    /// Returns the name without a leading and a trailing dot.
    private static func name(_ text: String) -> String {
        let text = text.hasPrefix(".") ? text.dropFirst() : text[...]
        return String(text.hasSuffix(".") ? text.dropLast() : text)
    }

    private static func prefix(_ text: String) -> AddressPrefix? {
        let parts = text.split(at: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var address = parts[0]
        if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
        guard let address = AddressLiteral(String(address))?.wire else { return nil }
        guard parts.count > 1 else { return AddressPrefix(host: address) }
        guard let length = Int(parts[1]), (0...address.family.bitCount).contains(length) else { return nil }
        return AddressPrefix(address, length: length)
    }
}
