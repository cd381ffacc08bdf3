/// What came of one question over the network, for all who wait for it.
enum FetchOutcome: Sendable {
    /// An OCSP response with the nonce that was sent.
    case response([UInt8], nonce: [UInt8]?)
    case list(RevocationList)
    case failed(RevocationProblem)
}
