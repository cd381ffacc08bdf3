/// Why a server was not trusted: the reason, the host that was meant, and the chain it was decided on.
public struct ServerTrustError: Error, Hashable, Sendable {
    /// What is wrong.
    public let reason: TrustFailure

    /// The host, as the evaluation was asked about it.
    public let host: String

    /// The server's certificate first. The chain that came nearest to being trusted; what the peer sent where none was built.
    public let chain: [TrustCertificate]

    /// Evaluators of your own throw these.
    public init(reason: TrustFailure, host: String, chain: [TrustCertificate] = []) {
        self.reason = reason
        self.host = host
        self.chain = chain
    }
}

extension ServerTrustError: CustomStringConvertible {
    /// One sentence.
    public var description: String { "the server of \(host.shown) is not trusted: \(reason)" }
}
