import LinuxSupport
import NIOHTTP1
import ServerTrustNIO

/// How far one request came over a connection, and what came back.
struct WebOutcome: Sendable {
    enum End: Sendable {
        /// The whole answer, or as much of it as is read.
        case answered
        /// By the peer.
        case closed
        case tooLarge
        case timedOut
        case cancelled
        /// What TLS, or the parser of HTTP, says.
        case failed(any Error)
    }

    var end = End.closed
    /// In which it ended.
    var phase = ProbePhase.request
    /// Those that ended.
    var phases: [ProbePhase: Duration] = [:]
    /// What the server has shown; nil if it has shown nothing.
    var tls: TLSFacts?
    var answer: WebAnswer?
    /// As far as it was asked for.
    var body: [UInt8] = []
}

/// The head of an answer.
struct WebAnswer: Hashable, Sendable {
    var status: Int
    var location: String?
    /// `Reachability-Response`.
    var response: String?
    /// How far the server's clock is ahead of ours.
    var clockOffset: Duration?
    /// How long it wants not to be asked again.
    var retryAfter: Duration?
}

/// What came back, as a result: pure.
extension ProbeResult {
    /// Adds to the result of a connection that was made what came of the request.
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

    /// Under which name it counts: a handshake that fails is none of HTTP. Of small segments it is only asked whether they get through.
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
        // What fails of it never gets here.
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
            // A server that redirects to a page for logging in puts the URL that was requested into that of the page.
            location: request.url.target.utf8.contains(UInt8(ascii: "?")) && request.purpose == .target
                ? answer.location?.queryMasked : answer.location,
            challenge: challenge,
            clockOffset: answer.clockOffset,
            retryAfter: answer.retryAfter
        )
    }
}
