/// A server whose chain has none of the pins.
public struct PinReport: Hashable, Sendable {
    /// The host that was meant.
    public let host: String
    /// When, by the trust's time.
    public let time: TrustTime
    /// What would have been right.
    public let expected: [PublicKeyPin]
    /// What there is on the chain, the server's own first.
    public let presented: [PublicKeyPin]
    /// The chain.
    public let chain: [TrustCertificate]
    /// Whether the server was refused for it; not so in a set that has expired or only reports.
    public let isEnforced: Bool
}
