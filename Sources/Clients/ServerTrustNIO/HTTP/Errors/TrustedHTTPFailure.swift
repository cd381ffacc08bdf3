import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
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

extension TrustedHTTPFailure {
    /// What an error of the layers below means.
    init(_ error: any Error, _ stage: TrustedHTTPStage, _ target: FlightTarget) {
        switch error {
        case let failure as TrustedHTTPFailure: self = failure
        case let error as ServerTrustError: self = .untrusted(error)
        case ChannelError.connectTimeout:
            let limit = target.settings.connectTimeLimit
            self = .connectTimedOut(host: target.host, port: target.port, limit: limit)
        case let error as NIOConnectionError: self.init(error, target)
        case let error as HTTPParserError: self.init(error, stage, target)
        case let error as NIOHTTPDecoderError: self = Self.malformed("\(error)", stage)
        case ChannelError.eof, ChannelError.inputClosed, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed,
            NIOSSLError.uncleanShutdown:
            self = .connectionClosed(stage)
        case _ where stage == .connecting:
            self = .unreachable(host: target.host, port: target.port, cause: Self.cause(error))
        case _ where stage == .handshake: self = .handshakeFailed(cause: "\(error)")
        default: self = .connectionFailed(stage, cause: "\(error)")
        }
    }

    private init(_ error: NIOConnectionError, _ target: FlightTarget) {
        let failures = error.connectionErrors.map { "\($0.target): \(Self.cause($0.error))" }
        let lookup = error.dnsAAAAError ?? error.dnsAError
        if failures.isEmpty, let lookup {
            let cause = (lookup as? SocketAddressError.UnknownHost)?.errorDescription ?? "\(lookup)"
            self = .unresolved(host: target.host, cause: cause)
        } else {
            self = .unreachable(host: target.host, port: target.port, cause: failures.joined(separator: "; "))
        }
    }

    private init(_ error: HTTPParserError, _ stage: TrustedHTTPStage, _ target: FlightTarget) {
        switch error {
        case .invalidEOFState: self = .connectionClosed(stage)
        case .headerOverflow: self = .headersTooLarge(limit: target.settings.maximumHeaderBytes)
        default: self = Self.malformed("\(error)", stage)
        }
    }

    /// What the system said, without the call that the event loop adds.
    private static func cause(_ error: any Error) -> String {
        (error as? IOError).map { "\(SystemError(rawValue: $0.errnoCode))" } ?? "\(error)"
    }

    private static func malformed(_ problem: String, _ stage: TrustedHTTPStage) -> TrustedHTTPFailure {
        stage == .tunnel ? .proxyMalformed(problem) : .malformedResponse(problem)
    }
}

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

/// Why a request has no answer: what was tried, and what went wrong.
public struct TrustedHTTPError: Error, Hashable, Sendable {
    /// What went wrong.
    public let reason: TrustedHTTPFailure

    /// The method that was tried.
    public let method: String

    /// What was tried, the last URL if redirects were followed; nil if it could not be read.
    public let url: TrustedHTTPURL?

    init(reason: TrustedHTTPFailure, method: String, url: TrustedHTTPURL?) {
        self.reason = reason
        self.method = method
        self.url = url
    }
}

extension TrustedHTTPError: CustomStringConvertible {
    /// One sentence: what was tried, what the system said, and what to do.
    public var description: String {
        guard let url else { return "\(method): \(reason)" }
        return "\(method) \(url): \(reason)"
    }
}
