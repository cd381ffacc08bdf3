import X509

/// What a list says about one certificate, if it may be believed (RFC 5280, 6.3.3).
struct RevocationListJudge {
    let question: RevocationQuestion
    let settings: RevocationSettings
    /// Checks the list's signature; others remember.
    let checkSignature: (RevocationList, RevocationQuestion) throws(RevocationProblem) -> Void

    func answer(_ list: RevocationList) throws(RevocationProblem) -> RevocationAnswer {
        let content = list.content
        guard content.issuer == question.certificate.x509.issuer else { throw .otherIssuer }
        guard content.scope.includes(question.certificate) else { throw .outOfScope }
        if let usage = try? question.issuer.keyUsage(), !usage.cRLSign { throw .mayNotSignLists }
        try checkSignature(list, question)
        // Not before: whoever can answer for a URL could have us read whatever he likes.
        let record = try content.entries.entry(of: question.certificate.fields.serialNumber).map { entry in
            RevocationRecord(time: entry.time, reason: entry.reason, source: .list(list.name))
        }
        // What is taken back stays so, whatever the age of the list; only a hold may end (RFC 5280, 5.3.1).
        if record == nil || record?.reason == .certificateHold {
            try checkTimes(content)
            guard record != nil || !content.scope.hasOnlySomeReasons else { throw .outOfScope }
        }
        return RevocationAnswer(
            record,
            from: content.thisUpdate,
            to: content.nextUpdate,
            about: question,
            settings
        )
    }

    private func checkTimes(_ content: RevocationListContent) throws(RevocationProblem) {
        guard content.thisUpdate <= question.time.advanced(by: settings.clockSkew) else {
            throw .notYetValid(content.thisUpdate)
        }
        guard let nextUpdate = content.nextUpdate else { throw .withoutNextUpdate }
        guard question.time <= nextUpdate.advanced(by: settings.clockSkew) else { throw .expired(nextUpdate) }
    }
}
