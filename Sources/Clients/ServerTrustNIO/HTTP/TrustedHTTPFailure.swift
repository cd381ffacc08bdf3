import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import ServerTrust

/// Why a request has no response. A response is never a failure, whatever its status is.
package enum TrustedHTTPFailure: Error, Hashable, Sendable {
    // MARK: The request

    /// The text is not a URL of HTTP.
    case invalidURL(String, problem: String)
    /// It is not a method (RFC 9110, 9.1), or it is CONNECT.
    case invalidMethod(String)
    /// The name or the value of this header field cannot be sent (RFC 9110, 5).
    case invalidHeader(String)

    // MARK: The connection

    /// The host has no address; `cause` is the text of the resolver.
    case unresolved(host: String, cause: String)
    /// None of the addresses accepts a connection; `cause` is the text of the system for each.
    case unreachable(host: String, port: Int, cause: String)
    /// No address accepted a connection within ``TrustedHTTPSettings/connectTimeLimit``.
    case connectTimedOut(host: String, port: Int, limit: Duration)
    /// The proxy refuses a tunnel (RFC 9110, 9.3.6), or requires credentials (407).
    case proxyRefused(status: Int, reason: String)
    /// The response of the proxy is not HTTP, or is followed by other bytes.
    case proxyMalformed(String)

    // MARK: TLS

    /// The server is not trusted.
    case untrusted(ServerTrustError)
    /// The handshake failed for another reason; `cause` is the text of the TLS library.
    case handshakeFailed(cause: String)

    // MARK: The response

    /// The peer closed the connection before the response was complete.
    case connectionClosed(TrustedHTTPStage)
    /// The connection failed; `cause` is the text of the system.
    case connectionFailed(TrustedHTTPStage, cause: String)
    /// The response is not HTTP/1.1 (RFC 9112).
    case malformedResponse(String)
    /// More bytes of header fields than ``TrustedHTTPSettings/maximumHeaderBytes``, or more than 256 fields.
    case headersTooLarge(limit: Int)
    /// More bytes of a body than ``TrustedHTTPSettings/maximumBodyBytes``.
    case bodyTooLarge(limit: Int)

    // MARK: The end

    /// The response was not complete within ``TrustedHTTPSettings/timeLimit``.
    case timedOut(TrustedHTTPStage, limit: Duration)
    /// The task was cancelled.
    case cancelled
}

/// A stage of a request. The raw value is the text in messages.
package enum TrustedHTTPStage: String, Hashable, Sendable, CaseIterable {
    /// The addresses of the host are looked up and connected to.
    case connecting = "connecting"
    /// The proxy is asked for a tunnel.
    case tunnel = "waiting for the proxy's tunnel"
    /// TLS; the certificates are judged.
    case handshake = "in the TLS handshake"
    /// The request is sent, and the head of the response has not arrived.
    case head = "waiting for the answer"
    /// The head has arrived, and the body is incomplete.
    case body = "reading the answer's body"
}

extension TrustedHTTPFailure {
    /// Converts an error of the layers below.
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

    /// The text of the system without the call that the event loop adds.
    private static func cause(_ error: any Error) -> String {
        (error as? IOError).map { "\(SystemError(rawValue: $0.errnoCode))" } ?? "\(error)"
    }

    private static func malformed(_ problem: String, _ stage: TrustedHTTPStage) -> TrustedHTTPFailure {
        stage == .tunnel ? .proxyMalformed(problem) : .malformedResponse(problem)
    }
}

extension TrustedHTTPFailure: CustomStringConvertible {
    /// A sentence that is safe to print and at most a page long.
    package var description: String { sentence.shown }

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
        case .timedOut(let stage, let limit): "no whole answer within \(limit), \(stage.rawValue)"
        case .cancelled: "the task was cancelled"
        }
    }
}
