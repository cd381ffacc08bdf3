import NIOHTTP1
import NIOSSL
import ServerTrust

/// Why TLS fails, as a stable word.
enum TLSFault {
    /// Nil if the error is not one of TLS.
    ///
    /// - Parameter isJudged: whether the server's certificate had been looked at.
    static func reason(_ error: any Error, isJudged: Bool) -> ProbeReason? {
        switch error {
        case let error as ServerTrustError: reason(error.reason)
        case NIOSSLError.handshakeFailed(let cause): reason("\(cause)", isJudged: isJudged)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: reason("\(error)", isJudged: isJudged)
        default: nil
        }
    }

    private static func reason(_ failure: TrustFailure) -> ProbeReason {
        switch failure {
        case .hostMismatch, .noSubjectAlternativeName: .wrongName
        case .expired: .expired
        case .notYetValid: .notYetValid
        case .pinMismatch, .notPinned: .pinMismatch
        case .noEvaluator: .noPolicy
        case .cancelled: .closedDuringHandshake
        case .timedOut: .handshakeSilent
        default: .untrusted
        }
    }

    /// By the names that BoringSSL has for its errors (`ssl_errors.h`), which SwiftNIO gives as text alone.
    private static func reason(_ text: String, isJudged: Bool) -> ProbeReason {
        if text.contains("EOF during") { return .closedDuringHandshake }
        if text.contains("ALERT_CERTIFICATE_REQUIRED") { return .clientCertificateRequired }
        if text.contains("ALERT_HANDSHAKE_FAILURE") {
            // TLS 1.2 has no alert of its own for it: a server that was content with everything else wants to know who we are.
            return isJudged ? .clientCertificateRequired : .versionOrCipher
        }
        if versions.contains(where: text.contains) { return .versionOrCipher }
        return text.contains("_ALERT_") ? .alert : .notTLS
    }

    private static let versions = [
        "ALERT_PROTOCOL_VERSION", "ALERT_INSUFFICIENT_SECURITY", "ALERT_INAPPROPRIATE_FALLBACK", "UNSUPPORTED_PROTOCOL",
        "WRONG_CIPHER_RETURNED", "UNKNOWN_CIPHER_RETURNED", "WRONG_CURVE", "NO_COMMON_SIGNATURE_ALGORITHMS",
    ]
}
