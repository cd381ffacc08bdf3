/// Questions with the same key have the same answer.
struct FetchKey: Hashable, Sendable {
    let url: String
    /// Nil for a list, which is about many.
    let certificate: TrustCertificate?
    let issuer: ServerPublicKey?
}
