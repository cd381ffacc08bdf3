import LinuxSupport
import NIOCore
import NIOHTTP1
import NIOSSL
import ReachabilityRetry
import ServerTrust
import ServerTrustNIO

/// The outcome of one request over a connection.
struct WebOutcome: Sendable {
    enum End: Sendable {
        /// The response, or as much of it as is read.
        case answered
        /// By the peer.
        case closed
        case tooLarge
        case timedOut
        case cancelled
        /// An error of TLS, or of the parser of HTTP.
        case failed(any Error)
    }

    var end = End.closed
    /// The phase in which it ended.
    var phase = ProbePhase.request
    /// The phases that ended.
    var phases: [ProbePhase: Duration] = [:]
    /// The server's certificate; nil if it has shown none.
    var tls: TLSFacts?
    var answer: WebAnswer?
}

extension WebOutcome {
    /// - Parameter now: Returns the time since the beginning of 1970.
    init(_ trace: HTTPTrace, of request: WebRequest, _ witness: CertificateWitness, now: Duration) {
        end = End(trace)
        let begun = trace.times
        switch trace.stage {
        case .connecting, .tunnel, .handshake: phase = request.url.scheme == .https ? .tls : .request
        case .head: phase = trace.sent == nil ? .request : .firstByte
        case .body: phase = .transfer
        }
        tls = TLSFacts(witness, trace.handshake)
        if let handshake = begun[.handshake], trace.handshake != nil {
            phases[.tls] = (begun[.head] ?? trace.ended) - handshake
        }
        // A server may answer before the whole request was written.
        if let sending = begun[.head], let sent = trace.sent ?? begun[.body] {
            phases[.request] = sent - sending
            if let head = begun[.body] { phases[.firstByte] = head - sent }
        }
        guard let head = trace.head, let arrival = begun[.body] else { return }
        answer = WebAnswer(head, at: now - (trace.ended - arrival))
        if trace.failure == nil, WebLimits.enough(request.purpose) > 0 { phases[.transfer] = trace.ended - arrival }
    }
}

extension WebOutcome.End {
    fileprivate init(_ trace: HTTPTrace) {
        guard let failure = trace.failure else {
            self = .answered
            return
        }
        self =
            switch failure {
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case .bodyTooLarge, .headersTooLarge: .tooLarge
            default:
                switch trace.cause ?? failure {
                case HTTPParserError.invalidEOFState, NIOSSLError.uncleanShutdown, is IOError, is ChannelError: .closed
                case let cause: .failed(cause)
                }
            }
    }
}

/// The head of a response.
struct WebAnswer: Hashable, Sendable {
    var status: Int
    var location: String?
    /// The header field `Reachability-Response`.
    var response: String?
    /// How far the server's clock is ahead of this machine's.
    var clockOffset: Duration?
    /// How long the server wants no further request.
    var retryAfter: Duration?
}

extension WebAnswer {
    /// - Parameter now: The time since the beginning of 1970 at which it arrived.
    init(_ head: HTTPResponseHead, at now: Duration) {
        status = Int(head.status.code)
        location = head.headers.first(name: "Location").map { String($0.prefix(WebLimits.location)) }
        response = head.headers.first(name: "Reachability-Response")
        let seconds = now.components.seconds
        let date = head.headers.first(name: "Date").flatMap { HTTPDate.secondsSince1970($0, now: seconds) }
        clockOffset = date.map { .seconds($0) - now }
        if status == 429 || status == 503, let text = head.headers.first(name: "Retry-After") {
            retryAfter = RetryAfter.wait(text, now: date ?? seconds)
        }
    }
}

extension ProbeResult {
    /// Adds the outcome of a request to the result of its connection.
    mutating func take(_ web: WebOutcome, of question: WebRequest) {
        phases.merge(web.phases) { $1 }
        evidence.tls = web.tls
        evidence.http = web.answer.map { HTTPFacts($0, question) }
        let isSecure = question.url.scheme == .https
        failedPhase = web.phase
        switch web.end {
        case .answered:
            failedPhase = nil
            outcome = judge(web, question)
        case .cancelled:
            failedPhase = nil
            outcome = .cancelled
        case .timedOut: outcome = web.phase == .transfer ? .invalid(.stalled) : .silent
        case .closed: outcome = .invalid(web.phase == .tls ? .closedDuringHandshake : .closedWithoutAnswer)
        case .tooLarge: outcome = .invalid(.tooLarge)
        case .failed(let error):
            let fault = isSecure ? TLSFault.reason(error, isJudged: web.tls != nil) : nil
            outcome = .invalid(fault ?? .notHTTP)
            if fault != nil {
                failedPhase = .tls
                if evidence.tls == nil, fault == .untrusted { evidence.tls = TLSFacts(isVerified: false) }
            }
        }
        settle()
    }

    /// Sets the kind of the result: a handshake that fails is not HTTP. Small segments only show whether they arrive.
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

    private func judge(_ web: WebOutcome, _ question: WebRequest) -> ProbeOutcome {
        if question.purpose == .handshake { return .answered }
        guard let answer = web.answer else { return .invalid(.notHTTP) }
        if question.purpose == .page { return .answered }
        if answer.status == 511 { return .invalid(.networkAuthenticationRequired) }
        switch question.purpose {
        case .page, .target, .handshake:
            let isExpected = question.expectedStatus?.contains(answer.status) ?? (answer.status < 500)
            return isExpected ? .answered : .invalid(.statusNotExpected)
        case .anchor:
            guard answer.status < 500 else { return .invalid(.statusNotExpected) }
            if web.tls?.isVerified == true || evidence.http?.challenge == .echoed { return .answered }
            return .invalid(200..<300 ~= answer.status ? .challengeWrong : .statusNotExpected)
        case .portalAPI:
            guard answer.status == 200 else { return .invalid(.statusNotExpected) }
            return evidence.portal == nil ? .invalid(.bodyNotExpected) : .answered
        }
    }
}

extension HTTPFacts {
    fileprivate init(_ answer: WebAnswer, _ request: WebRequest) {
        var challenge = Challenge.notAsked
        if case .anchor(let nonce) = request.purpose { challenge = answer.response == nonce ? .echoed : .missing }
        self.init(
            status: answer.status,
            // A redirect to a login page contains the requested URL.
            location: request.url.target.utf8.contains(UInt8(ascii: "?")) && request.purpose == .target
                ? answer.location?.secretsMasked : answer.location,
            challenge: challenge,
            clockOffset: answer.clockOffset,
            retryAfter: answer.retryAfter
        )
    }
}

/// The reasons of TLS failures.
enum TLSFault {
    /// Returns the reason; nil if the error is not one of TLS.
    ///
    /// - Parameter isJudged: Whether the server's certificate was judged before.
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
            // TLS 1.2 has no alert for a missing client certificate. A server that accepted all else requires one.
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
