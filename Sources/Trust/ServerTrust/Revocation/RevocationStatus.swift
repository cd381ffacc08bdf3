/// What is known about the revocation of a chain.
public enum RevocationStatus: Hashable, Sendable {
    /// Every certificate but the anchor is said to be good.
    case good
    /// One of them has been taken back.
    case revoked(TrustCertificate, detail: RevocationRecord)
    /// Nobody has said enough about one of them.
    case unknown(TrustCertificate, detail: RevocationDoubt)
}
