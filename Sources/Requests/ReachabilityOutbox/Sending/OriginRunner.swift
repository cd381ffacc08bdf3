import Logging
import ReachabilityRetry

/// Sends one origin's requests, one after the other.
struct OriginRunner: Sendable {
    /// Why it ended.
    enum End: Sendable {
        /// There is nothing for this origin any more, or nothing now, or the task was cancelled.
        case idle
        /// The file cannot be read or written.
        case failed(OutboxError)
    }

    let queue: OutboxQueue
    let store: OutboxStore
    let sender: any OutboxSender
    let watch: HostWatch
    let places: Places
    let report: @Sendable (OutboxEvent) -> Void

    private var options: OutboxOptions { store.options }

    /// Sends until there is nothing left, and waits for the network and for the server in between.
    func run() async -> End {
        var failures = 0
        do throws(OutboxError) {
            while await watch.untilReachable() {
                let delay = options.backoff.longestWait(beforeRetry: failures + 1) * options.random()
                switch try await sendNext(pause: delay) {
                case nil: return .idle
                case .gone?: failures = 0
                case .postponed?:
                    failures += 1
                    options.logger?.debug("waiting", metadata: ["origin": "\(queue.origin)", "delay": "\(delay)"])
                    await watch.pause(delay)
                case .notBefore(let time)?: await options.clock.pause(.milliseconds(time - store.now))
                }
            }
            return .idle
        } catch {
            return .failed(error)
        }
    }

    /// Sends what can be sent now, until the host is not reachable or the server does not take a request.
    func flush() async -> End {
        do throws(OutboxError) {
            var left = queue.count
            while !Task.isCancelled {
                let verdict = await watch.verdict()
                guard verdict.status != .notReachable else {
                    skip(left, .notReachable(reason: verdict.reason?.description))
                    return .idle
                }
                switch try await sendNext(pause: nil) {
                case .gone?: left -= 1
                case .postponed(let id)?:
                    skip(left - 1, .behind(id))
                    return .idle
                case .notBefore(let time)?:
                    skip(left, .until(.milliseconds(time)))
                    return .idle
                case nil: return .idle
                }
            }
            return .idle
        } catch {
            return .failed(error)
        }
    }

    private func skip(_ count: Int, _ reason: OutboxSkip) {
        if count > 0 { report(.skipped(origin: queue.origin, count: count, reason)) }
    }

    private enum Step {
        /// It is out of the way, one way or the other.
        case gone
        case postponed(OutboxEntry.ID)
        case notBefore(Int64)
    }

    /// - Parameter pause: How long is waited if it is not taken; nil where nobody knows.
    private func sendNext(pause: Duration?) async throws(OutboxError) -> Step? {
        guard await places.take() else { return nil }
        defer { places.giveBack() }
        let delivery: OutboxDelivery
        switch try await store.claim(queue.origin) {
        case .nothing: return nil
        case .notBefore(let time): return .notBefore(time)
        case .delivery(let next): delivery = next
        }
        let entry = delivery.entry
        options.logger?.debug("sending", metadata: ["request": "\(entry)"])
        var result = await Drain.run(for: options.drainLimit, clock: options.clock) { [sender] in
            await sender.send(delivery)
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
        try await store.finish(entry, result, pause: pause)
        return tell(entry, result)
    }

    private func tell(_ entry: OutboxEntry, _ result: OutboxResult) -> Step {
        var entry = entry
        switch result {
        case .delivered:
            options.logger?.info("delivered", metadata: ["request": "\(entry)"])
            report(.delivered(entry))
            return .gone
        case .rejected:
            return .gone
        case .retry(_, let cause):
            entry.lastError = cause
            options.logger?.info("postponed", metadata: ["request": "\(entry)", "cause": "\(cause ?? "")"])
            report(.postponed(entry))
            return .postponed(entry.id)
        case .held(let cause):
            entry.lastError = cause
            entry.attempts = max(entry.attempts - 1, 0)
            options.logger?.info("held", metadata: ["request": "\(entry)", "cause": "\(cause)"])
            report(.held(entry))
            return .postponed(entry.id)
        }
    }
}
