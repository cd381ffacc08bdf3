/// What every client should do at least: a valid chain to an anchor, and the right host.
public struct DefaultTrustEvaluator: ServerTrustEvaluating {
    private let validateHost: Bool

    /// - Parameter validateHost: Whether the certificate must be for the host. Without, anybody with a certificate for
    ///   anything is trusted.
    public init(validateHost: Bool = true) {
        self.validateHost = validateHost
    }

    /// A chain, and the host.
    public func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        _ = try trust.validatedChain(forHost: host, validateHost: validateHost)
    }
}
