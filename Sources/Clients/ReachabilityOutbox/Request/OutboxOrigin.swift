import FoundationEssentials
import LinuxSupport

/// Scheme, host and port of a URL (RFC 6454): all of it that is no secret.
struct OutboxOrigin: Hashable, Sendable, CustomStringConvertible {
    let scheme: String
    /// The host in lower case, an IPv6 address without brackets: what is asked about.
    let host: String
    /// The port, if the URL names one that is not the scheme's own.
    let port: Int?

    init(_ url: String) throws(OutboxError) {
        guard let parts = URLComponents(string: url, encodingInvalidCharacters: false) else {
            throw .invalidRequest("the URL cannot be read")
        }
        guard let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            let other = parts.scheme.map { ": its scheme is \($0.printable)" } ?? ""
            throw .invalidRequest("the URL does not begin with http:// or https://\(other)")
        }
        guard parts.user == nil, parts.password == nil else {
            throw .invalidRequest("the URL has a user name: put it into an Authorization header")
        }
        var host = parts.encodedHost?.lowercased() ?? ""
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        // The zone of a link-local address is written %25 in a URL (RFC 6874).
        host = host.replacing(scalars: "%25", with: "%", maxReplacements: 1)
        guard (try? HostError.check(host)) != nil else { throw .invalidRequest("the URL names no host") }
        if let port = parts.port, !(1...65535).contains(port) {
            throw .invalidRequest("the URL's port is not 1 to 65535")
        }
        self.scheme = scheme
        self.host = host
        self.port = parts.port == (scheme == "https" ? 443 : 80) ? nil : parts.port
    }

    /// For example `https://example.org:8443`.
    var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(scheme)://\(name)\(port.map { ":\($0)" } ?? "")"
    }
}
