/// How far a request has come.
public enum TrustedHTTPStage: String, Hashable, Sendable, CaseIterable {
    /// The host's addresses are looked up and connected to.
    case connecting = "connecting"
    /// The proxy is asked for a tunnel.
    case tunnel = "waiting for the proxy's tunnel"
    /// TLS; the certificates are judged.
    case handshake = "in the TLS handshake"
    /// The request is sent, and no head of an answer has come.
    case head = "waiting for the answer"
    /// The head has come, the body not all of it.
    case body = "reading the answer's body"
}
