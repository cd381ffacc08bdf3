import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOSSL
import ReachabilityRetry
import ServerTrust
import ServerTrustNIO

extension ProbeResult {
    /// Adds a request and its response to the result of the connection.
    ///
    /// - Parameter now: The time since 1970.
    mutating func take(_ trace: HTTPTrace, of request: WebRequest, _ recorder: CertificateRecorder, now: Duration) {
        let begun = trace.times
        evidence.tls = TLSFacts(recorder, trace.handshake, now: now)
        if request.purpose == .portalAPI { evidence.portal = try? PortalInformation(json: trace.body) }
        if let handshake = begun[.handshake], trace.handshake != nil {
            phases[.tls] = (begun[.head] ?? trace.ended) - handshake
        }
        if request.startTLS != nil, let start = begun[.connecting], let handshake = begun[.handshake] {
            phases[.request] = handshake - start
        }
        // A server may answer before the whole request is sent.
        if let sending = begun[.head], let sent = trace.sent ?? begun[.body] {
            phases[.request] = sent - sending
            if let head = begun[.body] { phases[.firstByte] = head - sent }
        }
        if let head = trace.head, let arrival = begun[.body] {
            evidence.http = HTTPFacts(head, of: request, at: now - (trace.ended - arrival))
            if trace.failure == nil, request.enough > 0 {
                phases[.transfer] = trace.ended - arrival
            }
        }
        if let failure = trace.failure {
            fail(failure, trace.cause, in: ProbePhase(trace, of: request), of: request)
        } else {
            outcome = judge(request, trace.body)
        }
        settle()
    }

    /// Adds a request that could not be started.
    mutating func take(_ failure: TrustedHTTPFailure, of request: WebRequest) {
        fail(failure, nil, in: .request, of: request)
        settle()
    }

    private mutating func fail(
        _ failure: TrustedHTTPFailure,
        _ cause: (any Error)?,
        in phase: ProbePhase,
        of request: WebRequest
    ) {
        failedPhase = phase
        switch failure {
        case .timedOut: outcome = phase == .transfer ? .invalid(.stalled) : .silent
        case .cancelled: (outcome, failedPhase) = (.cancelled, nil)
        case .bodyTooLarge, .headersTooLarge: outcome = .invalid(.tooLarge)
        default:
            switch cause ?? failure {
            case let fault as StartTLSFault:
                (outcome, evidence.detail) = (.invalid(fault.reason), fault.detail)
            case HTTPParserError.invalidEOFState, NIOSSLError.uncleanShutdown, is IOError, is ChannelError:
                outcome = .invalid(phase == .tls ? .closedDuringHandshake : .closedWithoutAnswer)
            case let cause:
                let isSecure = request.url.scheme == .https
                let fault = isSecure ? TLSFault.reason(cause, isJudged: evidence.tls != nil) : nil
                outcome = .invalid(fault ?? .notHTTP)
                guard let fault else { return }
                failedPhase = .tls
                if evidence.tls == nil, fault == .untrusted { evidence.tls = TLSFacts(isVerified: false) }
            }
        }
    }

    /// Sets the kind of the result. A failed handshake is not a result of HTTP. A test with small segments only shows whether they arrive.
    private mutating func settle() {
        if request.kind == .mtu {
            if case .invalid(let reason) = outcome,
                ![.stalled, .closedDuringHandshake, .closedWithoutAnswer].contains(reason)
            {
                (outcome, failedPhase) = (.answered, nil)
            }
        } else if failedPhase == .tls {
            request.kind = .tls
        }
    }

    private mutating func judge(_ request: WebRequest, _ body: [UInt8]) -> ProbeOutcome {
        if request.purpose == .handshake { return .answered }
        guard let answer = evidence.http else { return .invalid(.notHTTP) }
        if request.purpose == .page { return .answered }
        if answer.status == 511 { return .invalid(.networkAuthenticationRequired) }
        switch request.purpose {
        case .page, .target, .handshake:
            if request.exchange.redirects > 0, answer.redirect != nil { return .answered }
            let isExpected = request.exchange.expectedStatus?.contains(answer.status) ?? (answer.status < 500)
            guard isExpected else { return .invalid(.statusNotExpected) }
            evidence.detail = request.exchange.problem(in: body)
            return evidence.detail == nil ? .answered : .invalid(.bodyNotExpected)
        case .anchor:
            guard answer.status < 500 else { return .invalid(.statusNotExpected) }
            if evidence.tls?.isVerified == true || answer.challenge == .echoed { return .answered }
            return .invalid(200..<300 ~= answer.status ? .challengeWrong : .statusNotExpected)
        case .portalAPI:
            guard answer.status == 200 else { return .invalid(.statusNotExpected) }
            return evidence.portal == nil ? .invalid(.bodyNotExpected) : .answered
        }
    }
}

extension ProbePhase {
    /// Creates the phase in which a request ended.
    fileprivate init(_ trace: HTTPTrace, of request: WebRequest) {
        switch trace.stage {
        case .connecting, .tunnel: self = request.url.scheme == .https && request.startTLS == nil ? .tls : .request
        case .handshake: self = .tls
        case .head: self = trace.sent == nil ? .request : .firstByte
        case .body: self = .transfer
        }
    }
}

extension HTTPFacts {
    /// - Parameter now: The time of arrival since 1970.
    init(_ head: HTTPResponseHead, of request: WebRequest, at now: Duration) {
        self.init(status: Int(head.status.code))
        if let text = head.headers.first(name: "Location").map({ String($0.prefix(WebLimits.location)) }) {
            // A redirect to a login page often contains the requested URL, in its path, query or fragment.
            location = request.url.target.utf8.contains(UInt8(ascii: "?")) ? text.hostAlone : text
        }
        if [301, 302, 303, 307, 308].contains(status) {
            redirect = head.headers.first(name: "Location").flatMap { $0.utf8.count <= WebLimits.location ? $0 : nil }
        }
        if case .anchor(let nonce) = request.purpose {
            challenge = head.headers.first(name: "Reachability-Response") == nonce ? .echoed : .missing
        }
        let seconds = now.components.seconds
        let date = head.headers.first(name: "Date").flatMap { HTTPDate.secondsSince1970($0, now: seconds) }
        clockOffset = date.map { .seconds($0) - now }
        if status == 429 || status == 503, let text = head.headers.first(name: "Retry-After") {
            retryAfter = RetryAfter.wait(text, now: date ?? seconds)
        }
    }
}

/// The reasons of TLS errors.
enum TLSFault {
    /// Returns the reason of an error. Nil if it is not an error of TLS.
    ///
    /// - Parameter isJudged: True if the server's certificate was already evaluated.
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

    /// Finds the names of BoringSSL's errors (`ssl_errors.h`), which SwiftNIO reports only as text.
    private static func reason(_ text: String, isJudged: Bool) -> ProbeReason {
        if text.contains("EOF during") { return .closedDuringHandshake }
        if text.contains("ALERT_CERTIFICATE_REQUIRED") { return .clientCertificateRequired }
        if text.contains("ALERT_HANDSHAKE_FAILURE") {
            // TLS 1.2 has no alert for a missing client certificate. A server that accepted all other parameters requires one.
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
