public import AsyncHTTPClient
import Glibc
import LinuxSupport
public import NIOCore
public import NIOHTTP1
public import NIOHTTP2
public import NIOPosix
public import NIOSSL
public import ReachabilityRetry

/// The stage of a request that failed with an error of async-http-client.
///
/// | Error | Stage |
/// |---|---|
/// | connectTimeout, getConnectionFromPoolTimeout, tlsHandshakeTimeout, socksHandshakeTimeout, httpProxyHandshakeTimeout, invalidProxyResponse | never sent |
/// | readTimeout, writeTimeout, deadlineExceeded, remoteConnectionClosed, uncleanShutdown, requestStreamCancelled | may have been processed |
/// | cancelled, alreadyShutdown, errors of the URL, the header, the body or the configuration, too many redirects, all others | not retried |
///
/// If nothing of the request was written, `deadlineExceeded` and the like become `AttemptError.unsent`.
extension HTTPClientError: RetryableError {
    /// See the table; nil for "not retried".
    public var failureStage: FailureStage? {
        switch self {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout,
            .httpProxyHandshakeTimeout, .invalidProxyResponse:
            .neverSent
        case .readTimeout, .writeTimeout, .deadlineExceeded, .remoteConnectionClosed, .uncleanShutdown,
            .requestStreamCancelled:
            .mayHaveBeenProcessed
        default:
            nil
        }
    }

    /// remoteConnectionClosed, uncleanShutdown
    public var isConnectionLost: Bool { self == .remoteConnectionClosed || self == .uncleanShutdown }
}

/// The stage of a request that failed with an error of its channel.
///
/// | Error | Stage |
/// |---|---|
/// | connectTimeout, connectPending | never sent |
/// | ioOnClosedChannel, alreadyClosed, outputClosed, inputClosed, eof | may have been processed: the connection ended, before or after the request was sent |
/// | all others | not retried |
extension ChannelError: RetryableError {
    /// See the table; nil for "not retried".
    public var failureStage: FailureStage? {
        switch self {
        case .connectTimeout, .connectPending: .neverSent
        case .ioOnClosedChannel, .alreadyClosed, .outputClosed, .inputClosed, .eof: .mayHaveBeenProcessed
        default: nil
        }
    }

    /// A Boolean value that indicates whether the connection ended: the errors after which the request may have been processed.
    public var isConnectionLost: Bool { failureStage == .mayHaveBeenProcessed }
}

/// The stage of a request that failed with a system call, see `FailureStage.init(errorNumber:during:)`.
///
/// For an address, swift-nio throws the error of `connect(2)` itself. Only its text distinguishes it from the error of a connection in use.
/// An unknown text counts as a connection in use. swift-nio sometimes reports a refusal as a reset connection: TCP has this error number
/// only before the connection is established (`tcp_reset` of the kernel).
extension IOError: RetryableError {
    /// The stage of the error number; nil for "not retried".
    public var failureStage: FailureStage? { failure.failureStage }

    /// A Boolean value that indicates whether the error number means a lost connection, see `SocketFailure`.
    public var isConnectionLost: Bool { failure.isConnectionLost }

    /// `refused` for ECONNREFUSED of `connect(2)`, otherwise nil.
    public var connectionFailure: ConnectionFailure? { failure.connectionFailure }

    private var failure: SocketFailure {
        SocketFailure(errorNumber: errnoCode, during: isOfConnect ? .connecting : .exchanging)
    }

    private var isOfConnect: Bool {
        let text = description
        if errnoCode == ECONNREFUSED, text.hasPrefix("connection reset (error set)") { return true }
        return text.hasPrefix("connect(") || text.hasPrefix("finishing a non-blocking connect failed")
    }
}

/// The stage of a request for which no connection was made: each address of the name failed, or the name was not
/// resolved.
extension NIOConnectionError: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }

    /// `refused` if every address refused the connection, `nameNotResolved` if the name has no address, otherwise
    /// nil.
    public var connectionFailure: ConnectionFailure? {
        guard !connectionErrors.isEmpty else { return .nameNotResolved }
        let isRefused = connectionErrors.allSatisfy { failure in
            (failure.error as? any RetryableError)?.connectionFailure == .refused
        }
        return isRefused ? .refused : nil
    }
}

/// The stage of a request whose name was not resolved. The error is the same for a nonexistent name and for an
/// unreachable name service, so both are retried.
extension SocketAddressError.UnknownHost: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }

    /// Always `nameNotResolved`.
    public var connectionFailure: ConnectionFailure? { .nameNotResolved }
}

/// The stage of a request whose response is not valid HTTP/1 or is incomplete.
extension HTTPParserError: RetryableError {
    /// May have been processed, because the server has sent data.
    public var failureStage: FailureStage? { .mayHaveBeenProcessed }
}

/// The stage of a request whose HTTP/2 stream was reset, or whose connection was closed (RFC 9113, sections 5.4.2 and
/// 6.8).
///
/// A server has not processed a stream after the last stream of a GOAWAY. However, swift-nio closes such a stream
/// with CANCEL, which a server may also send. Therefore the request counts as one that may have been processed.
///
/// | Error code | Stage |
/// |---|---|
/// | REFUSED_STREAM (RFC 9113, section 8.7) | never sent: the server has not processed it |
/// | HTTP_1_1_REQUIRED, INADEQUATE_SECURITY | not retried |
/// | all others | may have been processed |
extension NIOHTTP2Errors.StreamClosed: RetryableError {
    /// See the table; nil for "not retried".
    public var failureStage: FailureStage? {
        switch errorCode {
        case .refusedStream: .neverSent
        case .http11Required, .inadequateSecurity: nil
        default: .mayHaveBeenProcessed
        }
    }
}

/// The stage of a request whose stream could not begin, because the server was ending the connection (GOAWAY).
extension NIOHTTP2Errors.CreatedStreamAfterGoaway: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }
}

/// The stage of a request for which the connection had no stream number left.
extension NIOHTTP2Errors.NoStreamIDAvailable: RetryableError {
    /// Never sent.
    public var failureStage: FailureStage? { .neverSent }
}

/// The stage of a request whose connection was closed.
extension NIOHTTP2Errors.IOOnClosedConnection: RetryableError {
    /// May have been processed.
    public var failureStage: FailureStage? { .mayHaveBeenProcessed }
    /// Always true.
    public var isConnectionLost: Bool { true }
}

/// The stage of a request that failed with an error of TLS.
///
/// | Error | Stage |
/// |---|---|
/// | a handshake that was cut off: end of file, reset | never sent |
/// | a handshake that was refused: a certificate that does not verify, no common version | not retried |
/// | uncleanShutdown, and errors of a connection that is being closed | may have been processed |
/// | all others | not retried |
extension NIOSSLError: RetryableError {
    /// See the table; nil for "not retried".
    public var failureStage: FailureStage? {
        switch self {
        case .handshakeFailed(let cause): cause.isCutOff ? .neverSent : nil
        case .uncleanShutdown, .writeDuringTLSShutdown, .shutdownFailed, .readInInvalidTLSState: .mayHaveBeenProcessed
        default: nil
        }
    }
}

extension BoringSSLError {
    /// A Boolean value that indicates whether the peer or the network ended the handshake without a TLS alert.
    fileprivate var isCutOff: Bool {
        switch self {
        case .zeroReturn, .syscallError: true
        case .sslError(let stack):
            stack.contains(.eofDuringHandshake) || stack.contains(.eofDuringAdditionalCertficiateChainValidation)
        default: false
        }
    }
}

/// Descriptions of the errors of requests for lists and logs. They contain no secrets.
package enum ErrorDescription {
    /// A text of at most 200 characters, for example `cannot connect to 192.0.2.1 port 443: Connection refused`.
    package static func text(of error: any Error) -> String { String(description(of: error).prefix(200)) }

    private static let noRoots = "cannot start TLS: the trusted roots cannot be read"

    private static func description(of error: any Error) -> String {
        switch error {
        case AttemptError.unsent(let cause), AttemptError.sent(let cause): description(of: cause)
        case let error as NIOConnectionError: description(of: error)
        case let error as SocketAddressError.UnknownHost: "cannot resolve \(error.host)"
        case let error as IOError where error.failureStage == .neverSent: "cannot connect: \(name(of: error))"
        case let error as IOError: "the connection failed: \(name(of: error))"
        case let error as HTTPClientError: description(of: error)
        case is NIOSSLExtraError: "the server's certificate is for another name; the server may be a captive portal"
        case let error as NIOSSLError where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
            "cannot verify the server's certificate; the server may be a captive portal, or its root is not trusted here"
        case NIOSSLError.noSuchFilesystemObject: noRoots
        case NIOSSLError.handshakeFailed(let cause): "the TLS handshake failed: \(reason(of: cause))"
        case let error as BoringSSLError where error.isOfSettings: noRoots
        case let error as BoringSSLError: "TLS failed: \(reason(of: error))"
        case is CancellationError: "the request was cancelled before the answer"
        default: "\(error)"
        }
    }

    /// Returns BoringSSL's name of an error (`ssl_errors.h`) in lower case. The text of the error is for example
    /// `error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER`, followed by a source location.
    private static func reason(of error: BoringSSLError) -> String {
        let text = "\(error)"
        if text.contains("EOF during handshake") { return "the server closed the connection" }
        let names = text.split { !($0.isUppercase || $0.isNumber || $0 == "_") }
        let name = names.last { $0.contains("_") && $0.count > 4 && $0.first?.isUppercase == true }
        if name == "WRONG_VERSION_NUMBER" { return "the server does not use TLS on this port" }
        return name.map { $0.lowercased().replacing(scalars: "_", with: " ") } ?? "for an unknown reason"
    }

    private static func description(of error: NIOConnectionError) -> String {
        guard let cause = error.connectionErrors.last?.error else {
            return "cannot resolve \(error.host)"
        }
        let reason = (cause as? IOError).map(name) ?? (cause is ChannelError ? "no answer in time" : "\(cause)")
        return "cannot connect to \(error.host) port \(error.port): \(reason)"
    }

    private static func description(of error: HTTPClientError) -> String {
        switch error {
        case .proxyAuthenticationRequired: "the proxy requires authentication (status 407)"
        case .invalidProxyResponse: "the proxy refused to connect to the server"
        case .connectTimeout: "cannot connect: no answer in time"
        case .remoteConnectionClosed: "the server closed the connection without an answer"
        default: "\(error)"
        }
    }

    /// Returns the text of `strerror(3)`.
    private static func name(of error: IOError) -> String { "\(SystemError(rawValue: error.errnoCode))" }
}

/// Kinds of errors, for the codes of other clients.
extension ErrorDescription {
    /// Returns whether something did not happen in time.
    package static func isTimeout(_ error: any Error) -> Bool {
        switch error {
        case let error as NIOConnectionError: error.connectionErrors.last.map { isTimeout($0.error) } ?? false
        case ChannelError.connectTimeout: true
        case let error as IOError: error.errnoCode == ETIMEDOUT
        case let error as HTTPClientError:
            [
                .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
                .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
            ].contains(error)
        default: false
        }
    }

    /// Returns whether the certificate of the server was rejected.
    package static func isOfCertificate(_ error: any Error) -> Bool {
        error is NIOSSLExtraError || error is NIOSSLError && "\(error)".contains("CERTIFICATE_VERIFY_FAILED")
    }

    /// Returns whether it is an error of TLS.
    package static func isOfTLS(_ error: any Error) -> Bool { error is NIOSSLError || error is BoringSSLError }
}

extension BoringSSLError {
    /// A Boolean value that indicates whether the handshake could not start, because the trusted roots cannot be
    /// read.
    package var isOfSettings: Bool { if case .unknownError = self { true } else { false } }
}
