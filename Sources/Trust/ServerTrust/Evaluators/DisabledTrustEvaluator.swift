import Logging

/// Trusts **everybody**: whoever sits between reads and changes all that is sent. Only for a test machine of your own; pinning its
/// certificate (``PinnedCertificatesTrustEvaluator`` with `acceptSelfSignedCertificates`) is as easy, and safe.
///
/// It is loud: the log has a warning, once for each host.
public struct DisabledTrustEvaluator: ServerTrustEvaluating {
    /// Think twice.
    public init() {}

    /// Returns, and warns.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        guard WarnedHosts.disabled.insert(host) else { return }
        trust.logger.warning("server trust is disabled for \(host): anybody may be answering in its name")
    }
}
