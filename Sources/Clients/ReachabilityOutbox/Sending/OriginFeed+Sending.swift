import Logging
import ReachabilityRetry

extension OriginFeed {
    /// What became of the first request.
    enum Sent: Sendable {
        /// It is out of the way, one way or the other.
        case gone
        /// It stays the first.
        case postponed(OutboxEntry, OutboxResult)
        /// Its URL leads elsewhere. It stays the first for this URL; requests for others may go.
        case moved(OutboxEntry, url: String)
        /// It was not sent, as the server said: before that time, in milliseconds since 1970.
        case notBefore(Int64)
    }

    /// Sends the first request once; nil where there is none.
    ///
    /// - Parameters:
    ///   - urls: The URLs whose requests are passed over.
    ///   - isProbe: Whether to show whether the monitor is right, which says that there is no path.
    func sendNext(except urls: Set<String>, isProbe: Bool = false) async throws(OutboxError) -> Sent? {
        guard await places.take() else { return nil }
        defer { places.giveBack() }
        var delivery: OutboxDelivery
        switch try await store.claim(queue.origin, except: urls) {
        case .nothing: return nil
        case .notBefore(let time): return .notBefore(time)
        case .delivery(let next): delivery = next
        }
        delivery.isProbe = isProbe
        let (options, entry) = (store.options, delivery.entry)
        options.logger?.debug("sending", metadata: ["request": "\(entry)"])
        var result: OutboxResult
        if let refusal = delivery.request.refusal {
            result = .rejected(reason: refusal)
        } else {
            result = await Drain.run(for: options.drainLimit, clock: options.clock) { [sender, delivery] in
                await sender.send(delivery)
            }
        }
        if case .retry(_, let cause) = result, let limit = options.maximumAttempts, entry.attempts >= limit {
            let last = cause.map { ": \($0)" } ?? ""
            result = .rejected(reason: "gave up after \(entry.attempts) attempts\(last)")
        }
        // Whoever is told of a dead letter after it was made may never be: the process may be killed in between.
        if case .rejected(let reason) = result {
            options.logger?.warning("given up", metadata: ["request": "\(entry)", "reason": "\(reason)"])
            report(.rejected(entry, reason: reason))
        }
        try await store.finish(entry, result)
        let sent = tell(entry, result)
        if case .postponed(let entry, _) = sent, result.isRedirect { return .moved(entry, url: delivery.request.url) }
        return sent
    }

    private func tell(_ entry: OutboxEntry, _ result: OutboxResult) -> Sent {
        var entry = entry
        let logger = store.options.logger
        switch result {
        case .delivered:
            logger?.info("delivered", metadata: ["request": "\(entry)"])
            report(.delivered(entry))
            return .gone
        case .rejected:
            return .gone
        case .retry(_, let cause):
            entry.lastError = cause
            logger?.info("postponed", metadata: ["request": "\(entry)", "cause": "\(cause ?? "")"])
            report(.postponed(entry))
        case .held(let cause):
            entry.lastError = cause
            entry.attempts = max(entry.attempts - 1, 0)
            logger?.info("held", metadata: ["request": "\(entry)", "cause": "\(cause)"])
            report(.held(entry))
        }
        return .postponed(entry, result)
    }
}
