/// What is pinned, with the raw values of AFNetworking.
public enum AFSSLPinningMode: UInt, Hashable, Sendable {
    /// Nothing: the server is judged by the anchors alone.
    case none = 0
    /// The keys of the pinned certificates.
    case publicKey = 1
    /// The pinned certificates.
    case certificate = 2
}
