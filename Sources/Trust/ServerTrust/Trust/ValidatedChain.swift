/// A chain from a server's certificate to an anchor that has passed every policy.
public struct ValidatedChain: Hashable, Sendable {
    /// The server's certificate first, the anchor last. One alone if the server's certificate is itself an anchor.
    public let certificates: [TrustCertificate]

    /// From the latest beginning to the earliest end of its certificates: the time in which the verdict stands.
    public let validity: ClosedRange<TrustTime>

    /// The server's own.
    public var leaf: TrustCertificate { certificates[0] }

    /// What it ends in.
    public var anchor: TrustCertificate { certificates[certificates.count - 1] }

    /// Only what the policies have passed at `time` gets here, so that the range is never upside down.
    init(_ certificates: [TrustCertificate], at time: TrustTime) {
        self.certificates = certificates
        let start = certificates.map(\.notBefore).max() ?? time
        let end = certificates.map(\.notAfter).min() ?? time
        validity = min(start, time)...max(end, time)
    }
}
