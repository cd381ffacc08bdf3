import AsyncHTTPClient
import CommandLineSupport
import LinuxPrimitives
import NIOCore
import NIOSSL
import ReachabilityRequests
import ReachabilityRetry

extension HTTPClient.Configuration {
    /// What downloads from a URL, as the environment wants it: `http_proxy`, `https_proxy`, `no_proxy`, `SSL_CERT_FILE`.
    ///
    /// An attempt that brings nothing for half a minute is given up, and the rest asked for anew.
    static func forDownload(of url: DownloadURL) throws(ExitMessage) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let roots = EnvironmentVariable.value(of: "SSL_CERT_FILE") { tls.trustRoots = .file(roots) }
        let settings = ProxySettings { EnvironmentVariable.value(of: $0) }
        return HTTPClient.Configuration(
            tlsConfiguration: tls,
            timeout: Timeout(connect: .seconds(10), read: .seconds(30)),
            proxy: try settings.proxy(for: url.parts).map { proxy in
                .server(
                    host: proxy.host,
                    port: proxy.port,
                    authorization: proxy.credentials.map { .basic(username: $0.name, password: $0.password) }
                )
            }
        )
    }
}

/// Which proxy the environment names, as curl(1) reads it: `http_proxy` in small letters only (CGI hands a client's field Proxy over as
/// `HTTP_PROXY`), `https_proxy` and `no_proxy` in either.
struct ProxySettings {
    /// An HTTP proxy.
    struct Proxy {
        let host: String
        let port: Int
        let credentials: (name: String, password: String)?
    }

    /// Reads a variable; nil where it is not set.
    let variable: (String) -> String?

    /// - Throws: ``ExitMessage`` for what is no proxy of HTTP.
    func proxy(for url: RequestURL) throws(ExitMessage) -> Proxy? {
        let name = "\(url.scheme)_proxy"
        guard let text = variable(name) ?? (url.scheme == "https" ? variable(name.uppercased()) : nil),
            !isExcepted(url.host)
        else { return nil }
        let whole = text.contains("://") ? text : "http://\(text)"
        guard whole.lowercased().hasPrefix("http://"), let parts = try? DownloadURL(whole) else {
            throw ExitMessage("\(name) names no proxy that is spoken to over http, and no other is known", .usage)
        }
        return Proxy(host: parts.parts.host, port: parts.parts.port, credentials: parts.credentials)
    }

    /// Whether `no_proxy` has the host: itself, a domain it is in, or `*` for all.
    private func isExcepted(_ host: String) -> Bool {
        let list = variable("no_proxy") ?? variable("NO_PROXY") ?? ""
        return list.split { $0 == "," || $0 == " " }.contains { word in
            let name =
                word.lowercased().drop { $0 == "." }.split(separator: ":").first.map(String.init) ?? word.lowercased()
            return name == "*" || name == host || host.hasSuffix(".\(name)") || word.lowercased() == host
        }
    }
}
