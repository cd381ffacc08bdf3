import LinuxSupport
import Logging
import ReachabilityRetry

/// Feeds one origin's requests to the engine of retries, one after the other.
///
/// The engine decides when: it waits for the network, for the backoff and for what a server asks for. Each attempt takes whichever request
/// is the first then, so that one put in meanwhile with a higher priority goes before, and one that was deleted or has expired does not
/// go. What has to outlive the process is in the file before the attempt is over.
struct OriginFeed: Sendable {
    /// Why it ended.
    enum End: Sendable {
        /// There is nothing for this origin any more, or nothing now, or the task was cancelled.
        case idle
        /// The coordinator was shut down.
        case stopped
        /// The file cannot be read or written.
        case failed(OutboxError)
    }

    /// The maximum number of URLs passed over because they lead elsewhere. If more do, a portal answers for the origin.
    private static let movedLimit = 16

    /// The engine remembers the attempts of a run: so many, then it begins anew.
    private static let attemptsOfRun = 1000

    let queue: OutboxQueue
    let store: OutboxStore
    let sender: any OutboxSender
    let coordinator: RetryCoordinator
    let places: Places
    let report: @Sendable (OutboxEvent) -> Void

    private var options: OutboxOptions { store.options }

    /// Sends until there is nothing left.
    func run() async -> End {
        coordinator.enter(queue.host)
        defer { coordinator.leave(queue.host) }
        // The key makes every request repeatable, and whoever has somebody waiting goes first.
        let target = try? RetryTarget(host: queue.host, isRepeatable: true, priority: .low)
        let latest = Locked<OutboxEntry.ID?>(nil)
        let moved = Locked<Set<String>>([])
        while !Task.isCancelled {
            do throws(RetryError) {
                let isMore = try await withUnpaidRetry(
                    policy: policy,
                    target: target ?? .network(isRepeatable: true, priority: .low),
                    coordinator: coordinator,
                    clock: options.clock,
                    observer: { plan($0, latest.withLock { $0 }) },
                    operation: { try await attempt(latest, moved, isProbe: $0.isProbe) }
                )
                guard isMore else { return .idle }
            } catch {
                if let error = error.lastError as? OutboxError { return .failed(error) }
                if error.ending == .cancelled { return .idle }
                if error.ending == .shutDown { return .stopped }
                await options.clock.pause(options.backoff.cap)
            }
        }
        return .idle
    }

    /// Sends each request once, until the host is not reachable or the server does not take one.
    func flush() async -> End {
        coordinator.enter(queue.host)
        defer { coordinator.leave(queue.host) }
        do throws(OutboxError) {
            var left = queue.count
            var (moved, last) = (Set<String>(), OutboxEntry.ID?.none)
            while !Task.isCancelled {
                let verdict = await coordinator.settledVerdict(of: queue.host)
                guard verdict.status != .notReachable else {
                    skip(left, .notReachable(reason: verdict.reason?.description))
                    return .idle
                }
                switch try await sendNext(except: moved) {
                case .gone?: left -= 1
                case .moved(let entry, let url)? where moved.count < Self.movedLimit:
                    moved.insert(url)
                    (left, last) = (left - 1, entry.id)
                case .moved(let entry, _)?:
                    skip(left - 1, .behind(entry.id))
                    return .idle
                case .postponed(let entry, _)?:
                    skip(left - 1, .behind(entry.id))
                    return .idle
                case .notBefore(let time)?:
                    skip(left, .until(.milliseconds(time)))
                    return .idle
                case nil:
                    // Others for the same URLs.
                    if let last { skip(left, .behind(last)) }
                    return .idle
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

    /// What the engine goes by. It ends nothing for good: that is done by the expiry, and by the attempts that the file counts.
    private var policy: RetryPolicy {
        .standard.changing { policy in
            policy.deadline = nil
            policy.attempts = Self.attemptsOfRun
            policy.attemptsAfterSending = Self.attemptsOfRun
            policy.attemptsUnresolved = Self.attemptsOfRun
            policy.attemptsRefused = .max
            policy.backoff = options.backoff
            policy.retryAfterCap = options.maximumRetryAfter
            policy.waitsFirst = true
        }
    }

    /// Makes an attempt, and says whether there may be more to send.
    ///
    /// - Parameters:
    ///   - latest: Receives the request that is to be tried again.
    ///   - moved: The URLs that lead elsewhere. Their requests are passed over until nothing else is left.
    private func attempt(
        _ latest: Locked<OutboxEntry.ID?>,
        _ moved: Locked<Set<String>>,
        isProbe: Bool
    ) async throws -> Bool {
        latest.withLock { $0 = nil }
        // The engine would try: a name may be known to the sender alone. But here attempts are counted, and a week may be waited.
        if await coordinator.settledVerdict(of: queue.host).lacksAddress { throw Postponed(failureStage: .neverSent) }
        var passedOver = moved.withLock(\.self)
        var sent = try await sendNext(except: passedOver, isProbe: isProbe)
        while case .moved(let entry, let url)? = sent, passedOver.count < Self.movedLimit {
            latest.withLock { $0 = entry.id }
            passedOver.insert(url)
            sent = try await sendNext(except: passedOver, isProbe: isProbe)
        }
        switch sent {
        case nil where passedOver.isEmpty: return false
        case nil, .moved?:
            // Nothing else is left. All of them are tried again.
            moved.withLock { $0 = [] }
            throw Postponed(failureStage: .neverSent)
        case .gone?:
            moved.withLock { [passedOver] in $0 = passedOver }
            return true
        case .notBefore(let time)?: throw AttemptError.heldBack(.milliseconds(time) - .milliseconds(store.now))
        case .postponed(let entry, let result)?:
            latest.withLock { $0 = entry.id }
            throw Postponed(failureStage: stage(of: result))
        }
    }

    /// How far it got, for the engine. The server's word is kept beside it, for all that ask the host: it does not take the place of the
    /// backoff, for a server that always asks for a second would use up all attempts in a quarter of an hour.
    private func stage(of result: OutboxResult) -> FailureStage {
        guard case .retry(let delay, _) = result else { return .neverSent }
        guard let delay else { return .mayHaveBeenProcessed }
        coordinator.holdBack(queue.host, for: min(max(delay, .zero), options.maximumRetryAfter))
        return .answered(status: 503)
    }

    /// Writes down when the engine means to try again.
    private func plan(_ event: RetryEvent, _ id: OutboxEntry.ID?) {
        guard case .waiting(_, _, let pause) = event, let id else { return }
        options.logger?.debug(
            "waiting",
            metadata: ["origin": "\(queue.origin)", "delay": "\(pause.map { "\($0)" } ?? "until it is reachable")"]
        )
        if let pause { store.plan(id, in: pause) }
    }
}

/// The first request was not delivered, and stays the first.
private struct Postponed: RetryableError {
    let failureStage: FailureStage?
}

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
