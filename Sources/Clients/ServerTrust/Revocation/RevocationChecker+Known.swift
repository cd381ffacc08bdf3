import X509

extension RevocationChecker {
    /// All that is known of one certificate without asking.
    func knownFinding(_ question: RevocationQuestion, _ flags: RevocationFlags) -> RevocationFinding {
        let methods = flags.methods
        let findings = methods.map { findingAtHand(question, $0) }
        var obstacles: [RevocationObstacle] = []
        if let revoked = findings.first(where: \.isRevoked) { return revoked }
        for (method, finding) in zip(methods, findings) {
            guard case .unknown(let more) = finding else { return finding }
            obstacles += more
            guard !sources(question, method).isEmpty else { continue }
            let problem = unasked(flags) ?? .wouldWait
            if !obstacles.contains(RevocationObstacle(problem)) { obstacles.append(RevocationObstacle(problem)) }
        }
        return .unknown(obstacles)
    }

    /// What is known of one certificate, if others need not be asked.
    func settledFinding(_ question: RevocationQuestion, _ flags: RevocationFlags) -> RevocationFinding? {
        let findings = flags.methods.map { findingAtHand(question, $0) }
        if let revoked = findings.first(where: \.isRevoked) { return revoked }
        return findings.first == .good ? .good : nil
    }

    /// What one method says without asking.
    func findingAtHand(_ question: RevocationQuestion, _ method: RevocationMethod) -> RevocationFinding {
        var obstacles: [RevocationObstacle] = []
        var isGood = false
        switch method {
        case .ocsp:
            if let response = question.stapledResponse {
                switch finding(response, nonce: nil, about: question, from: .stapledResponse) {
                case .good: isGood = true
                case .revoked(let record): return .revoked(record)
                case .unknown(let more): obstacles += more
                }
            }
            // Also after a good response: what is remembered may be newer, and say otherwise.
            if let answer = memory.answer(to: question) {
                if let record = answer.record { return .revoked(record) }
                isGood = true
            }
        case .lists:
            for list in lists(about: question) {
                switch finding(list, about: question) {
                case .good: isGood = true
                case .revoked(let record): return .revoked(record)
                case .unknown(let more): obstacles += more
                }
            }
        }
        return isGood ? .good : .unknown(obstacles)
    }

    /// What a response says, which is remembered if it may be.
    func finding(
        _ response: [UInt8],
        nonce: [UInt8]?,
        about question: RevocationQuestion,
        from source: RevocationSource
    ) -> RevocationFinding {
        do {
            let judge = OCSPJudge(question: question, settings: settings) { responder in
                self.findingAtHand(responder, .lists).isRevoked
            }
            let answer = try judge.answer(response, nonce: nonce, from: source)
            memory.remember(answer, to: question)
            return answer.finding
        } catch {
            return .unknown([RevocationObstacle(error, from: source)])
        }
    }

    /// What a list says.
    func finding(_ list: RevocationList, about question: RevocationQuestion) -> RevocationFinding {
        do {
            return try answer(list, about: question).finding
        } catch {
            return .unknown([RevocationObstacle(error, from: .list(list.name))])
        }
    }

    func answer(
        _ list: RevocationList,
        about question: RevocationQuestion
    ) throws(RevocationProblem) -> RevocationAnswer {
        let memory = memory
        return try RevocationListJudge(question: question, settings: settings) {
            (list, question) throws(RevocationProblem) in try memory.check(list, question)
        }.answer(list)
    }

    /// Why nobody may be asked; nil if somebody may.
    func unasked(_ flags: RevocationFlags) -> RevocationProblem? {
        if flags.contains(.networkAccessDisabled) { return .networkAccessDisabled }
        return fetcher == nil ? .noFetcher : nil
    }

    /// Whom to ask over the network.
    func sources(_ question: RevocationQuestion, _ method: RevocationMethod) -> [String] {
        switch method {
        case .ocsp:
            Array(RevocationURL.responders(of: question.certificate).prefix(max(0, settings.maximumSources)))
        case .lists:
            listURLs + DistributionPoint.locations(in: question.certificate).prefix(max(0, settings.maximumSources))
        }
    }

    /// The lists at hand that may be about a certificate: those of other authorities are no obstacle worth telling.
    private func lists(about question: RevocationQuestion) -> [RevocationList] {
        let issuer = question.certificate.x509.issuer
        let fetched = sources(question, .lists).compactMap { memory.list(from: $0) }
        return (question.lists + lists + fetched).filter { $0.content.issuer == issuer }
    }
}
