import AsyncHTTPClient
import CommandLineSupport
import LinuxSupport
import NIOCore
import NIOSSL
import ReachabilityHTTP
import ReachabilityRetry

extension HTTPClient.Configuration {
    /// What downloads from a URL, as the environment wants it: through the proxy it names (``ProxyEnvironment``), and with the anchors of
    /// `SSL_CERT_FILE`.
    ///
    /// An attempt that brings nothing for half a minute is given up, and the rest asked for anew.
    ///
    /// - Throws: ``ExitMessage`` where the proxy cannot be used, or there are no such anchors.
    static func forDownload(of url: DownloadURL) throws(ExitMessage) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if url.parts.scheme == "https", let roots = EnvironmentVariable.value(of: "SSL_CERT_FILE") {
            guard FileName.isTaken(roots) else {
                throw ExitMessage("SSL_CERT_FILE: there is no \(roots)", .unavailable)
            }
            tls.trustRoots = .file(roots)
        }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            timeout: Timeout(connect: .seconds(10), read: .seconds(30))
        )
        switch ProxyEnvironment().way(to: url.text) {
        case .direct: break
        case .proxy(let proxy): configuration.proxy = proxy
        case .unusable(let sentence): throw ExitMessage(sentence, .usage)
        }
        return configuration
    }
}
