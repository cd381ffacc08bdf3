import AsyncHTTPClient
import LinuxSupport
import NIOCore
import NIOPosix
package import NIOSSL
import ReachabilityRetry

/// What a request failed with, in words for people: they are kept beside it, listed and logged, and have no secrets.
package enum FailureWords {
    /// For example `cannot connect to 192.0.2.1 port 443: Connection refused`.
    package static func text(_ error: any Error) -> String { String(words(error).prefix(200)) }

    private static let noRoots = "TLS cannot begin: the roots that are trusted cannot be read"

    private static func words(_ error: any Error) -> String {
        switch error {
        case AttemptError.unsent(let cause), AttemptError.sent(let cause): words(cause)
        case let error as NIOConnectionError: words(error)
        case let error as SocketAddressError.UnknownHost: "the name \(error.host) cannot be looked up"
        case let error as IOError where error.failureStage == .neverSent: "cannot connect: \(name(of: error))"
        case let error as IOError: "the connection broke: \(name(of: error))"
        case let error as HTTPClientError: words(error)
        case is NIOSSLExtraError: "the server's certificate is for another name: a portal, or the wrong server"
        case let error as NIOSSLError where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
            "the server's certificate does not verify: a portal, or a root that is not known here"
        case NIOSSLError.noSuchFilesystemObject: noRoots
        case NIOSSLError.handshakeFailed(let cause): "the TLS handshake failed: \(reason(of: cause))"
        case let error as BoringSSLError where error.isOfSettings: noRoots
        case let error as BoringSSLError: "TLS failed: \(reason(of: error))"
        case is CancellationError: "it was told to end before there was an answer"
        default: "\(error)"
        }
    }

    /// The name that BoringSSL has for its error (`ssl_errors.h`), in lower case. Its text reads
    /// `error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER`, with the place in its source.
    private static func reason(of error: BoringSSLError) -> String {
        let text = "\(error)"
        if text.contains("EOF during handshake") { return "the server closed the connection" }
        let names = text.split { !($0.isUppercase || $0.isNumber || $0 == "_") }
        let name = names.last { $0.contains("_") && $0.count > 4 && $0.first?.isUppercase == true }
        if name == "WRONG_VERSION_NUMBER" { return "the server does not speak TLS on this port" }
        return name.map { $0.lowercased().replacing(scalars: "_", with: " ") } ?? "for an unknown reason"
    }

    private static func words(_ error: NIOConnectionError) -> String {
        guard let cause = error.connectionErrors.last?.error else {
            return "the name \(error.host) cannot be looked up"
        }
        let reason = (cause as? IOError).map(name) ?? (cause is ChannelError ? "no answer in time" : "\(cause)")
        return "cannot connect to \(error.host) port \(error.port): \(reason)"
    }

    private static func words(_ error: HTTPClientError) -> String {
        switch error {
        case .proxyAuthenticationRequired: "status 407 of the proxy, which connects to nobody"
        case .invalidProxyResponse: "the proxy has refused, and connects to nobody"
        case .connectTimeout: "cannot connect: no answer in time"
        case .remoteConnectionClosed: "the server closed the connection without an answer"
        default: "\(error)"
        }
    }

    /// As `strerror(3)` has it.
    private static func name(of error: IOError) -> String { "\(SystemError(rawValue: error.errnoCode))" }
}

extension BoringSSLError {
    /// Whether TLS could not begin at all, which is so where the roots that are trusted cannot be read.
    package var isOfSettings: Bool { if case .unknownError = self { true } else { false } }
}
