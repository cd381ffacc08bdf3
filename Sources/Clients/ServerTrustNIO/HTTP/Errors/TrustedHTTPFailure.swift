public import ServerTrust

/// What can go wrong with a request. Answers are no failures, whatever their status is.
public enum TrustedHTTPFailure: Error, Hashable, Sendable {
    // MARK: What was to be sent

    /// The text is no URL of HTTP.
    case invalidURL(String, problem: String)
    /// It is no method (RFC 9110, 9.1), or CONNECT.
    case invalidMethod(String)
    /// The name or the value of this header field cannot be sent (RFC 9110, 5).
    case invalidHeader(String)

    // MARK: The way there

    /// The host has no address; `cause` is what the resolver says.
    case unresolved(host: String, cause: String)
    /// None of the addresses takes a connection; `cause` is what the system says of each.
    case unreachable(host: String, port: Int, cause: String)
    /// No address has taken a connection within ``TrustedHTTPSettings/connectTimeLimit``.
    case connectTimedOut(host: String, port: Int, limit: Duration)
    /// The proxy makes no tunnel (RFC 9110, 9.3.6), or wants to know who asks (407).
    case proxyRefused(status: Int, reason: String)
    /// What the proxy says is not HTTP, or not only the answer to CONNECT.
    case proxyMalformed(String)

    // MARK: TLS

    /// The server is not who was meant.
    case untrusted(ServerTrustError)
    /// There is no connection with TLS for another reason; `cause` is what the TLS library says.
    case handshakeFailed(cause: String)

    // MARK: The answer

    /// The other side has closed the connection before the answer was whole.
    case connectionClosed(TrustedHTTPStage)
    /// The connection has broken; `cause` is what the system says.
    case connectionFailed(TrustedHTTPStage, cause: String)
    /// The answer is not HTTP/1.1 (RFC 9112).
    case malformedResponse(String)
    /// More bytes of header fields than ``TrustedHTTPSettings/maximumHeaderBytes``, or more than 256 fields.
    case headersTooLarge(limit: Int)
    /// More bytes of a body than ``TrustedHTTPSettings/maximumBodyBytes``.
    case bodyTooLarge(limit: Int)

    // MARK: Redirects

    /// More of them than are to be followed.
    case tooManyRedirects(limit: Int)
    /// From `https` to plain `http`.
    case insecureRedirect(TrustedHTTPURL)
    /// The place it names cannot be read.
    case invalidRedirect(String, problem: String)

    // MARK: Everything

    /// Not within ``TrustedHTTPSettings/timeLimit``.
    case timedOut(TrustedHTTPStage, limit: Duration)
    /// The task has been cancelled.
    case cancelled
}

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
