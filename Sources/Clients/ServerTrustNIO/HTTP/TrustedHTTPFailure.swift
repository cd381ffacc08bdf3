import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import ServerTrust

/// The reason why a request has no response. A response is never a failure, whatever its status is.
package enum TrustedHTTPFailure: Error, Hashable, Sendable {
    // MARK: Request

    /// The text is not an HTTP URL.
    case invalidURL(String, problem: String)
    /// The text is not a method (RFC 9110, 9.1), or it is CONNECT.
    case invalidMethod(String)
    /// The name or the value of this header field contains characters that are not permitted (RFC 9110, 5).
    case invalidHeader(String)

    // MARK: Connection

    /// The host has no address; `cause` is the text of the resolver.
    case unresolved(host: String, cause: String)
    /// No address accepts a connection. `cause` is the text of the system for each address.
    case unreachable(host: String, port: Int, cause: String)
    /// No address accepted a connection within ``TrustedHTTPSettings/connectTimeLimit``.
    case connectTimedOut(host: String, port: Int, limit: Duration)
    /// The proxy refuses the tunnel (RFC 9110, 9.3.6), or requires credentials (407).
    case proxyRefused(status: Int, reason: String)
    /// The response of the proxy is not HTTP, or other bytes follow it.
    case proxyMalformed(String)

    // MARK: TLS

    /// The server is not trusted.
    case untrusted(ServerTrustError)
    /// The handshake failed for another reason; `cause` is the text of the TLS library.
    case handshakeFailed(cause: String)

    // MARK: Response

    /// The peer closed the connection before the response was complete.
    case connectionClosed(TrustedHTTPStage)
    /// The connection failed; `cause` is the text of the system.
    case connectionFailed(TrustedHTTPStage, cause: String)
    /// The response is not HTTP/1.1 (RFC 9112).
    case malformedResponse(String)
    /// The header fields exceed ``TrustedHTTPSettings/maximumHeaderBytes``, or there are more than 256.
    case headersTooLarge(limit: Int)
    /// The body exceeds ``TrustedHTTPSettings/maximumBodyBytes``.
    case bodyTooLarge(limit: Int)

    // MARK: Time limit and cancellation

    /// The response was not complete within ``TrustedHTTPSettings/timeLimit``.
    case timedOut(TrustedHTTPStage, limit: Duration)
    /// The task was cancelled.
    case cancelled
}

/// A stage of a request. The raw value is its text in error messages.
package enum TrustedHTTPStage: String, Hashable, Sendable, CaseIterable {
    /// The host is resolved, and its addresses are tried.
    case connecting = "connecting"
    /// The tunnel was requested from the proxy.
    case tunnel = "waiting for the proxy's tunnel"
    /// The TLS handshake, including the verification of the certificates.
    case handshake = "in the TLS handshake"
    /// The request is sent, and the head of the response is incomplete.
    case head = "waiting for the response"
    /// The head was received, and the body is incomplete.
    case body = "reading the body of the response"
}

extension TrustedHTTPFailure {
    /// Converts an error of SwiftNIO or NIOSSL.
    init(_ error: any Error, _ stage: TrustedHTTPStage, _ target: ConnectionTarget) {
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
        case _ where stage == .handshake: self = .handshakeFailed(cause: HandshakeFault.reason(of: error))
        default: self = .connectionFailed(stage, cause: "\(error)")
        }
    }

    private init(_ error: NIOConnectionError, _ target: ConnectionTarget) {
        let failures = error.connectionErrors.map { "\($0.target): \(Self.cause($0.error))" }
        let lookup = error.dnsAAAAError ?? error.dnsAError
        if failures.isEmpty, let lookup {
            let cause = (lookup as? SocketAddressError.UnknownHost)?.errorDescription ?? "\(lookup)"
            self = .unresolved(host: target.host, cause: cause)
        } else {
            self = .unreachable(host: target.host, port: target.port, cause: failures.joined(separator: "; "))
        }
    }

    private init(_ error: HTTPParserError, _ stage: TrustedHTTPStage, _ target: ConnectionTarget) {
        switch error {
        case .invalidEOFState: self = .connectionClosed(stage)
        case .headerOverflow: self = .headersTooLarge(limit: target.settings.maximumHeaderBytes)
        default: self = Self.malformed("\(error)", stage)
        }
    }

    /// Returns the text of the system, without the name of the call that SwiftNIO adds.
    private static func cause(_ error: any Error) -> String {
        (error as? IOError).map { "\(SystemError(rawValue: $0.errnoCode))" } ?? "\(error)"
    }

    private static func malformed(_ problem: String, _ stage: TrustedHTTPStage) -> TrustedHTTPFailure {
        stage == .tunnel ? .proxyMalformed(problem) : .malformedResponse(problem)
    }
}

extension TrustedHTTPFailure: CustomStringConvertible {
    /// One sentence. Text from the network is escaped, and the sentence is cut at 2048 characters.
    package var description: String { sentence.shown }

    private var sentence: String {
        switch self {
        case .invalidURL(let text, let problem): "\"\(text)\" is not an HTTP URL: \(problem)"
        case .invalidMethod(let method): "cannot send the method \"\(method)\""
        case .invalidHeader(let name):
            "cannot send the header field \"\(name)\": it contains characters that are not permitted"
        case .unresolved(let host, let cause):
            "\(host) has no address: \(cause); check the name and the name servers"
        case .unreachable(let host, let port, let cause): "cannot connect to \(host) at port \(port): \(cause)"
        case .connectTimedOut(let host, let port, let limit):
            "cannot connect to \(host) at port \(port): no answer within \(limit); check the route, or wait longer"
        case .proxyRefused(407, _): "the proxy requires credentials (407); set HTTPProxy.authorization"
        case .proxyRefused(let status, let reason):
            "the proxy refused the tunnel: \(status) \(reason); check whether it permits this host and port"
        case .proxyMalformed(let problem): "the response of the proxy is not HTTP/1.1: \(problem); check its address"
        case .untrusted(let error): "\(error)"
        case .handshakeFailed(let cause): "the TLS handshake failed: \(cause)"
        case .connectionClosed(let stage): "the peer closed the connection, \(stage.rawValue)"
        case .connectionFailed(let stage, let cause): "the connection failed, \(stage.rawValue): \(cause)"
        case .malformedResponse(let problem): "the response is not HTTP/1.1: \(problem)"
        case .headersTooLarge(let limit):
            "the response has more than \(limit) bytes of header fields, or more than 256 fields"
        case .bodyTooLarge(let limit):
            "the body of the response has more than \(limit) bytes; raise maximumBodyBytes to read it"
        case .timedOut(let stage, let limit): "no complete response within \(limit), \(stage.rawValue)"
        case .cancelled: "the task was cancelled"
        }
    }
}

/// The reasons of failed TLS handshakes.
package enum HandshakeFault {
    /// Returns the reason, for example `wrong version number`.
    ///
    /// It is BoringSSL's name of the error (`ssl_errors.h`) in lower case. The text of the error is for example
    /// `error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER`, followed by a source location.
    package static func reason(of error: any Error) -> String {
        if case NIOSSLError.handshakeFailed(let cause) = error { return reason(of: cause) }
        guard error is BoringSSLError else { return "\(error)" }
        let text = "\(error)"
        if text.contains("EOF during handshake") { return "it closed the connection" }
        let words = text.split { !($0.isUppercase || $0.isNumber || $0 == "_") }
        let name = words.last { $0.contains("_") && $0.first?.isUppercase == true && $0.count > 4 }
        return name.map { String($0.lowercased().map { $0 == "_" ? " " : $0 }) } ?? text
    }
}
