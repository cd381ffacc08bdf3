import SwiftASN1

/// What an OCSP response says about one certificate, if it may be believed (RFC 6960, 3.2 and 4.2.2).
struct OCSPJudge {
    let question: RevocationQuestion
    let settings: RevocationSettings
    /// Whether a responder's certificate is on a list that is at hand.
    let isRevoked: (RevocationQuestion) -> Bool

    /// - Parameters:
    ///   - der: The response.
    ///   - nonce: What was sent along with the question; nil if nothing was. A response without one is taken all the same, for most
    ///     responders sign ahead (RFC 9654, 2.1).
    ///   - source: Who has given it.
    func answer(
        _ der: [UInt8],
        nonce: [UInt8]?,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationAnswer {
        guard der.count <= settings.maximumResponseBytes else {
            throw .tooLarge(limit: settings.maximumResponseBytes)
        }
        let response = try OCSPResponse(der: der)
        let statements = response.data.responses.filter { $0.id.names(question) }
        guard !statements.isEmpty else { throw .otherCertificate }
        try OCSPSigner(question: question, isRevoked: isRevoked).check(response)
        try response.data.extensions.requireNoCritical(but: [OCSPRequest.nonceIdentifier])
        for statement in statements { try statement.extensions.requireNoCritical() }
        return try answer(statements, of: response.data, nonce: nonce, from: source)
    }

    private func check(_ nonce: [UInt8], in data: OCSPResponseData) throws(RevocationProblem) {
        let echo: [UInt8]?
        do {
            echo = try data.nonce()
        } catch {
            throw .wrongNonce
        }
        guard echo == nil || echo == nonce else { throw .wrongNonce }
    }

    /// The worst of several statements that count.
    private func answer(
        _ statements: [OCSPSingleResponse],
        of data: OCSPResponseData,
        nonce: [UInt8]?,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationAnswer {
        var problem: RevocationProblem?
        for statement in statements.sorted(by: { Self.severity($0) > Self.severity($1) }) {
            do {
                return try answer(statement, of: data, nonce: nonce, from: source)
            } catch {
                guard error != .unknownToResponder else { throw error }
                problem = problem ?? error
            }
        }
        throw problem ?? .otherCertificate
    }

    private func answer(
        _ statement: OCSPSingleResponse,
        of data: OCSPResponseData,
        nonce: [UInt8]?,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationAnswer {
        var record: RevocationRecord?
        if case .revoked(let time, let reason) = statement.status {
            record = RevocationRecord(time: time, reason: reason, source: source)
        }
        // What is taken back stays so, however old the statement; only a hold may end (RFC 5280, 5.3.1).
        if record == nil || record?.reason == .certificateHold {
            if let nonce { try check(nonce, in: data) }
            try checkTimes(statement, data.producedAt)
        }
        guard statement.status != .unknown else { throw .unknownToResponder }
        return RevocationAnswer(
            record,
            from: statement.thisUpdate,
            to: statement.nextUpdate,
            about: question,
            settings
        )
    }

    private func checkTimes(_ statement: OCSPSingleResponse, _ producedAt: TrustTime) throws(RevocationProblem) {
        let latest = question.time.advanced(by: settings.clockSkew)
        guard statement.thisUpdate <= latest else { throw .notYetValid(statement.thisUpdate) }
        guard producedAt <= latest else { throw .notYetValid(producedAt) }
        if let nextUpdate = statement.nextUpdate {
            guard question.time <= nextUpdate.advanced(by: settings.clockSkew) else { throw .expired(nextUpdate) }
        } else {
            let end = statement.thisUpdate.advanced(by: settings.maximumAgeWithoutNextUpdate)
            guard question.time <= end else { throw .tooOld(statement.thisUpdate) }
        }
    }

    private static func severity(_ statement: OCSPSingleResponse) -> Int {
        switch statement.status {
        case .revoked: 2
        case .unknown: 1
        case .good: 0
        }
    }
}
