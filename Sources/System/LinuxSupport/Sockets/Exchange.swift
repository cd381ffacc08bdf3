/// The state of a `DatagramRequest`: sent and received packets, the time of the next attempt, and the end. A value that
/// performs no input or output.
struct Exchange {
    /// A datagram that was sent.
    private struct Sending {
        /// The time just before sending, by CLOCK_MONOTONIC and by the clock of the kernel's timestamps.
        let moment: Duration
        let time: Duration
        /// The kernel's timestamp of sending.
        var stamp: Duration?
    }

    let request: DatagramRequest
    private let begun: Duration
    /// The number of attempts whose time has come, and the number of skipped attempts among them.
    private var tried = 0
    private var withheld = 0
    private var sendings: [Sending] = []
    private var outcome = DatagramOutcome(end: .silent)

    /// The maximum number of answers and of errors that are kept, because untrusted senders may send any number.
    private static let limit = 16

    init(_ request: DatagramRequest, begun: Duration, local: SocketEndpoint?) {
        self.request = request
        self.begun = begun
        outcome.local = local
    }

    /// The time of the next action.
    var nextMoment: Duration {
        let end = begun + request.limit
        return tried < request.tries.count ? min(begun + request.tries[tried], end) : end
    }

    /// Returns whether to send now, and counts the attempt.
    mutating func beginTry(at now: Duration) -> Bool {
        while tried < request.tries.count, begun + request.tries[tried] <= now, now < begun + request.limit {
            tried += 1
            if request.maySend() { return true }
            withheld += 1
        }
        return false
    }

    /// Records that a datagram was sent. Returns its number.
    mutating func noteSent(at moment: Duration, time: Duration) -> Int {
        sendings.append(Sending(moment: moment, time: time))
        return sendings.count - 1
    }

    mutating func noteFailure(_ error: SocketError) {
        outcome.failures.append(error)
    }

    /// Records the kernel's timestamp of a sent datagram.
    mutating func noteStamp(_ stamp: Duration, of number: Int) {
        // A datagram sent before the request does not count.
        guard sendings.indices.contains(number), stamp >= sendings[number].time else { return }
        sendings[number].stamp = stamp
    }

    /// Records an answer.
    ///
    /// - Parameter number: The number of the answered datagram; nil if it is not known.
    mutating func noteAnswer(
        from sender: SocketEndpoint,
        _ payload: [UInt8],
        isTruncated: Bool,
        control: ControlMessages,
        to number: Int?,
        at now: Duration
    ) {
        let isAccepted: Bool
        switch request.content {
        case .echo: isAccepted = true
        case .payload: isAccepted = request.accepts(payload)
        }
        guard isAccepted || outcome.answers.count < Self.limit else { return }
        outcome.answers.append(
            DatagramOutcome.Answer(
                sender: sender,
                payload: payload,
                isTruncated: isTruncated,
                hopLimit: control.hopLimit,
                isAccepted: isAccepted,
                timing: timing(of: number, received: control.time, at: now)
            )
        )
    }

    mutating func noteError(_ message: ErrorQueueMessage, to number: Int?, at now: Duration) {
        guard outcome.errors.count < Self.limit else { return }
        let timing = timing(of: number, received: message.time, at: now)
        outcome.errors.append(DatagramOutcome.Report(message: message, timing: timing))
    }

    private func timing(of number: Int?, received: Duration?, at now: Duration) -> ReplyTiming {
        // If only one datagram was sent, the answer belongs to it.
        let number = number ?? (sendings.count == 1 ? 0 : nil)
        let sending = number.flatMap { sendings.indices.contains($0) ? sendings[$0] : nil }
        let elapsed = (sending ?? sendings.last).map { now - $0.moment } ?? .zero
        var roundTrip: Duration?
        if let stamp = sending?.stamp, let received, received >= stamp {
            // The clock may have been set between the two timestamps.
            roundTrip = received - stamp <= elapsed + .milliseconds(1) ? received - stamp : nil
        }
        return ReplyTiming(elapsed: elapsed, roundTrip: roundTrip)
    }

    /// Returns the result of the request; nil while it continues.
    private func end(at now: Duration) -> DatagramOutcome.End? {
        if outcome.answers.contains(where: \.isAccepted) { return .answered }
        let hasError = outcome.errors.contains(where: \.message.isICMP)
        if hasError, request.endsAtError { return .error }
        if withheld == request.tries.count { return .withheld }
        let isOver = now >= begun + request.limit
        if let failure = outcome.failures.last, sendings.isEmpty, isOver || failure.kind != .noBuffers {
            return .notSent(failure)
        }
        guard isOver else { return nil }
        // The socket had no space for a datagram during the whole time.
        if sendings.isEmpty { return .notSent(SocketError(.send(request.endpoint), .tryAgain)) }
        return hasError ? .error : .silent
    }

    /// Returns the outcome; nil while the request continues.
    func outcome(at now: Duration) -> DatagramOutcome? {
        end(at: now).map { outcome(endingWith: $0, at: now) }
    }

    func outcome(endingWith end: DatagramOutcome.End, at now: Duration) -> DatagramOutcome {
        var outcome = outcome
        outcome.end = end
        outcome.sent = sendings.count
        outcome.begun = begun
        outcome.duration = now - begun
        return outcome
    }
}
