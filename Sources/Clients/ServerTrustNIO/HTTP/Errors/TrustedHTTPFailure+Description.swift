import ServerTrust

extension TrustedHTTPFailure: CustomStringConvertible {
    /// What went wrong, and what to do.
    ///
    /// What strangers wrote is made safe to show, and no longer than a page.
    public var description: String { sentence.shown }

    private var sentence: String {
        switch self {
        case .invalidURL(let text, let problem): "\"\(text)\" is no URL of HTTP: \(problem)"
        case .invalidMethod(let method): "the method \"\(method)\" cannot be sent"
        case .invalidHeader(let name): "the header field \"\(name)\" has characters that cannot be sent"
        case .unresolved(let host, let cause):
            "\(host) has no address: \(cause); check the name and the name servers"
        case .unreachable(let host, let port, let cause): "no connection to \(host) at port \(port): \(cause)"
        case .connectTimedOut(let host, let port, let limit):
            "no connection to \(host) at port \(port) within \(limit): nobody answers; check the way there, or wait longer"
        case .proxyRefused(407, _): "the proxy wants to know who asks (407): set HTTPProxy.authorization"
        case .proxyRefused(let status, let reason):
            "the proxy makes no tunnel: \(status) \(reason); ask whether it allows this host and port"
        case .proxyMalformed(let problem): "the proxy does not speak HTTP/1.1: \(problem); check its address"
        case .untrusted(let error): "\(error)"
        case .handshakeFailed(let cause): "the TLS handshake failed: \(cause)"
        case .connectionClosed(let stage): "the other side closed the connection, \(stage.rawValue)"
        case .connectionFailed(let stage, let cause): "the connection broke, \(stage.rawValue): \(cause)"
        case .malformedResponse(let problem): "the answer is not HTTP/1.1: \(problem)"
        case .headersTooLarge(let limit):
            "the answer has more than \(limit) bytes of header fields, or more than 256 fields"
        case .bodyTooLarge(let limit):
            "the answer's body has more than \(limit) bytes: raise maximumBodyBytes to read it"
        case .tooManyRedirects(let limit): "there are more than \(limit) redirects, perhaps in a circle"
        case .insecureRedirect(let url): "it redirects from https to \(url), where nobody could be trusted"
        case .invalidRedirect(let place, let problem): "it redirects to \"\(place)\": \(problem)"
        case .timedOut(let stage, let limit): "no whole answer within \(limit), \(stage.rawValue)"
        case .cancelled: "the task was cancelled"
        }
    }
}
