import X509

extension RevocationChecker {
    /// All that can be known of one certificate.
    func finding(_ question: RevocationQuestion, _ flags: RevocationFlags) async -> RevocationFinding {
        let methods = flags.methods
        let known = methods.map { findingAtHand(question, $0) }
        if let revoked = known.first(where: \.isRevoked) { return revoked }
        var obstacles: [RevocationObstacle] = []
        for (method, finding) in zip(methods, known) {
            guard case .unknown(let more) = finding else { return finding }
            obstacles += more
            let sources = sources(question, method)
            guard !sources.isEmpty else { continue }
            if let problem = unasked(flags) {
                if !obstacles.contains(RevocationObstacle(problem)) { obstacles.append(RevocationObstacle(problem)) }
                continue
            }
            for url in sources {
                let answer = await method == .ocsp ? askResponder(url, question) : askList(url, question)
                guard case .unknown(let more) = answer else { return answer }
                // A list that is at hand but of no use has been told of.
                obstacles += more.filter { !obstacles.contains($0) }
            }
        }
        return .unknown(obstacles)
    }

    private func askResponder(_ url: String, _ question: RevocationQuestion) async -> RevocationFinding {
        let source = RevocationSource.responder(url: url)
        let key = FetchKey(url: url, certificate: question.certificate, issuer: question.issuer.publicKey)
        let outcome = await flights.outcome(key, limit: settings.timeLimit) { [self] in
            let nonce = settings.usesNonce ? makeNonce() : nil
            let request = OCSPRequest(id: OCSPCertificateID(of: question, digest: .sha1), nonce: nonce)
            guard let body = try? request.encoded() else { return .failed(.malformed("the question")) }
            return await fetched(.ocsp(url, body, settings)) { .response($0, nonce: nonce) }
        }
        switch outcome {
        case .response(let response, let nonce):
            return finding(response, nonce: nonce, about: question, from: source)
        case .failed(let problem):
            return .unknown([RevocationObstacle(problem, from: source)])
        case .list:
            return .unknown([])
        }
    }

    private func askList(_ url: String, _ question: RevocationQuestion) async -> RevocationFinding {
        if let known = memory.list(from: url), known.content.issuer != question.certificate.x509.issuer,
            let nextUpdate = known.nextUpdate, question.time <= nextUpdate
        {
            // It would be the same one again.
            return .unknown([RevocationObstacle(.otherIssuer, from: .list(url))])
        }
        let key = FetchKey(url: url, certificate: nil, issuer: nil)
        let outcome = await flights.outcome(key, limit: settings.timeLimit) { [self] in
            await fetched(.list(url, settings)) { bytes in
                do throws(RevocationProblem) {
                    return .list(try RevocationList(bytes: bytes, name: url))
                } catch {
                    return .failed(error)
                }
            }
        }
        switch outcome {
        case .list(let list):
            do throws(RevocationProblem) {
                let answer = try answer(list, about: question)
                if answer.validity != nil { memory.remember(list, from: url) }
                return answer.finding
            } catch {
                return .unknown([RevocationObstacle(error, from: .list(url))])
            }
        case .failed(let problem):
            return .unknown([RevocationObstacle(problem, from: .list(url))])
        case .response:
            return .unknown([])
        }
    }

    private func fetched(
        _ request: RevocationRequest,
        _ read: ([UInt8]) -> FetchOutcome
    ) async -> FetchOutcome {
        guard let fetcher else { return .failed(.noFetcher) }
        do {
            let bytes = try await fetcher.fetch(request)
            guard bytes.count <= request.sizeLimit else { return .failed(.tooLarge(limit: request.sizeLimit)) }
            return read(bytes)
        } catch {
            return .failed(error.problem(request))
        }
    }
}
