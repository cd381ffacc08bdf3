import LinuxSupport
import NetworkReachability

/// Probes of single DNS servers.
extension Prober {
    private static let fewTries: [Duration] = [.zero, .milliseconds(1000)]
    private static let port: UInt16 = 53
    private static let dislikesExtensions: [DNSResponseCode] = [.formatError, .notImplemented]
    /// The minimum time for another question.
    private static let least = Duration.milliseconds(100)
    /// The maximum number of responses with a matching identifier that are parsed.
    private static let readingLimit = 64

    /// Queries a server over UDP, and again over TCP if the response is truncated (RFC 7766).
    ///
    /// - Parameter limit: The time limit of both queries together.
    func query(
        _ server: IPAddress,
        _ purpose: NamePurpose,
        _ question: DNSQuestion,
        limit: Duration = connectLimit
    ) async -> ProbeResult {
        let request = request(.dns, .server(server, purpose), server, port: Self.port, limit: limit)
        await gate.pass()
        let readings = Locked(0)
        let outcome = await engine.send(
            DatagramRequest(
                to: endpoint(server, port: Self.port),
                .payload(question.bytes),
                settings: settings(),
                tries: isThrifty ? Self.fewTries : self.tries,
                limit: limit,
                accepts: { bytes in
                    guard DNSAnswer.isResponse(bytes, for: question) else { return false }
                    let count = readings.withLock { count in
                        count += 1
                        return count
                    }
                    return count <= Self.readingLimit && DNSAnswer(bytes, to: question).isReadable
                }
            )
        )
        var result = result(request, outcome)
        if let answer = outcome.answers.first(where: \.isAccepted) {
            take(DNSAnswer(answer.payload, to: question), to: question, into: &result)
        } else if result.outcome == .silent {
            result.evidence.dns = DNSFacts(question.type)
            // A forged response may arrive before the server's response, so unusable responses are reported only after the time limit.
            let answers = outcome.answers.map { DNSAnswer($0.payload, to: question) }
            let isMalformed = answers.contains { if case .malformed = $0 { true } else { false } }
            if !answers.isEmpty { result.outcome = .invalid(isMalformed ? .malformedAnswer : .mismatchedAnswer) }
        } else if case .refused = result.outcome {
            result.outcome = .invalid(.serverClosed)
        }
        let left = limit - outcome.duration
        guard left >= Self.least else { return result }
        if result.evidence.dns?.isTruncated == true {
            await queryOverStream(server, question, left, &result)
        } else if question.hasExtensions, let code = result.evidence.dns?.code, Self.dislikesExtensions.contains(code) {
            // Other programs query such servers without EDNS, and get answers (RFC 6891, section 7).
            var plain = question
            plain.hasExtensions = false
            let cost = result.cost
            result = await query(server, purpose, plain, limit: left)
            result.cost = result.cost + cost
        }
        return result
    }

    private func queryOverStream(
        _ server: IPAddress,
        _ question: DNSQuestion,
        _ limit: Duration,
        _ result: inout ProbeResult
    ) async {
        let outcome = await engine.connect(
            StreamRequest(
                to: endpoint(server, port: Self.port),
                DNSStream.frame(question.bytes) ?? [],
                settings: settings(),
                limit: limit,
                isComplete: { DNSStream.first(in: $0) != nil }
            )
        )
        result.cost = result.cost + cost(of: outcome)
        result.phases[.connect] = outcome.connected
        if case .answered = outcome.end, let message = DNSStream.first(in: outcome.bytes),
            case let answer = DNSAnswer(Array(message), to: question), !answer.isTruncated
        {
            result.phases[.request] = outcome.connected.map { outcome.duration - $0 }
            result.outcome = .answered
            return take(answer, to: question, into: &result)
        }
        result.phases[.request] = nil
        result.failedPhase = outcome.connected == nil ? .connect : .request
        result.outcome = .invalid(.truncatedWithoutTCP)
        switch outcome.end {
        case .cancelled: result.outcome = .cancelled
        case .notSent(let error): result.outcome = ProbeOutcome(error)
        default: break
        }
    }

    private func take(_ answer: DNSAnswer, to question: DNSQuestion, into result: inout ProbeResult) {
        switch answer {
        case .whole(let message), .truncated(let message):
            var facts = DNSFacts(question.type, code: message.code, extendedErrors: message.extendedErrors)
            facts.addresses = message.addresses(of: question.name).map { IPAddress($0) }
            facts.records = message.records(of: question.name, question.type)
            facts.isTruncated = answer.isTruncated
            facts.isRecursive = message.flags.contains(.recursionAvailable)
            result.evidence.dns = facts
            switch message.code {
            case .noError, .nameError: break
            case .refused: result.outcome = .invalid(.serverRefused)
            default: result.outcome = .invalid(.serverFailed)
            }
        case .malformed: result.outcome = .invalid(.malformedAnswer)
        case .mismatched: result.outcome = .invalid(.mismatchedAnswer)
        }
    }

    /// Returns the cost according to the kernel's counters, including the final reset.
    private func cost(of outcome: StreamOutcome) -> ProbeCost {
        guard let information = outcome.information, let sent = information.segmentsSent else { return ProbeCost() }
        let reset = outcome.connected == nil ? 0 : 1
        let packets = sent + (information.segmentsReceived ?? 0) + outcome.errors.count + reset
        return ProbeCost(packets: packets, bytes: packets * 60 + outcome.bytes.count)
    }
}
