/// What is known about the revocation of a chain.
public enum RevocationStatus: Hashable, Sendable {
    /// Every certificate that can be asked about is said to be good.
    case good
    /// One of them has been taken back. `detail` says when, why and who says so.
    case revoked(TrustCertificate, detail: String)
    /// Nobody has said enough about one of them.
    case unknown(TrustCertificate, detail: String)
}
