import LinuxSupport

/// What is known of a host name's addresses, and when to ask again. Pure: it says what to do and does nothing.
package struct NameState: Sendable {
    package enum Answer: Hashable, Sendable {
        /// The name service has not answered yet.
        case pending
        case addresses([IPAddress])
        /// The name does not exist, or could not be asked about before anything was known of it.
        case failed
    }

    /// Why the name service is asked.
    enum Occasion: Hashable, Sendable {
        /// Nothing is known yet, or what is known has become old.
        case age
        /// The network changed: a question that is under way may be lost in the old one.
        case change
    }

    /// Between two questions at least this long, however much the network changes.
    static let spacing = Duration.seconds(1)
    private static let longestBackoff = Duration.seconds(60)
    /// A question that went out before the network changed may take its time to fail; one more may be asked beside it.
    private static let questionLimit = 2

    private(set) var answer = Answer.pending
    /// Why there is no address; nil while there is one, or nothing is known yet.
    private(set) var failure: NameLookup.Failure?
    private var asked: UInt64 = 0
    private var answered: UInt64 = 0
    private var questionsUnderWay = 0
    private var missedChange = false
    private var failures = 0
    private var lastAsked: Duration?

    /// What this machine knows by itself counts until the name service says otherwise.
    mutating func know(_ addresses: [IPAddress]) {
        if answer == .pending, !addresses.isEmpty { answer = .addresses(addresses) }
    }

    /// The number of the question to ask now; nil when none is to be asked.
    mutating func ask(because occasion: Occasion, at now: Duration) -> UInt64? {
        guard questionsUnderWay < (occasion == .change ? Self.questionLimit : 1) else {
            missedChange = missedChange || occasion == .change
            return nil
        }
        questionsUnderWay += 1
        asked += 1
        lastAsked = now
        return asked
    }

    /// Takes the answer to a question. The answer to a later question counts more, and so does a later question that has not
    /// been answered yet than the failure of an earlier one. A name service out of reach does not undo what it said before:
    /// packets to those addresses still tell the truth.
    ///
    /// - Returns: Whether what is known changed, and whether to ask again because of a change in the meantime.
    mutating func take(
        _ result: Result<[IPAddress], NameLookup.Failure>,
        of question: UInt64
    ) -> (isChange: Bool, asksAgain: Bool) {
        questionsUnderWay -= 1
        let before = answer
        let addresses = (try? result.get()) ?? []
        if question > answered, !addresses.isEmpty || question == asked {
            answered = question
            failures = addresses.isEmpty ? failures + 1 : 0
            answer = Self.answer(addresses, result, before: before)
            if answer == .failed, case .failure(let cause) = result { failure = cause } else { failure = nil }
        }
        defer { missedChange = false }
        return (answer != before, missedChange)
    }

    private static func answer(
        _ addresses: [IPAddress],
        _ result: Result<[IPAddress], NameLookup.Failure>,
        before: Answer
    ) -> Answer {
        if !addresses.isEmpty { return .addresses(addresses) }
        if case .failure(.unavailable) = result, case .addresses = before { return before }
        return .failed
    }

    /// How long to wait from `now` until asking again, if nothing changes: the interval, or 1, 2, 4 ... 60 s after failures.
    func delay(from now: Duration, interval: Duration) -> Duration {
        guard let lastAsked else { return .zero }
        let wait = failures == 0 ? interval : min(Self.longestBackoff, .seconds(1 << min(failures - 1, 6)))
        return max(.zero, lastAsked + wait - now)
    }

    /// How long to wait from `now` until asking again after a change of the network.
    func delayAfterChange(from now: Duration) -> Duration {
        guard let lastAsked else { return .zero }
        return max(.zero, lastAsked + Self.spacing - now)
    }
}
