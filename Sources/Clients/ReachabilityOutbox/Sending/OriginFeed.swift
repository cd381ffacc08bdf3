import LinuxSupport
import Logging
import ReachabilityRetry

/// The requests of one origin, passed to the retry engine one at a time.
///
/// The engine decides when an attempt is made: it waits for the network, the backoff and Retry-After. Each attempt
/// takes the request that is first at that time. A request that was added meanwhile with a higher priority goes first,
/// and one that was deleted or has expired is not sent. State that must survive the process is stored before the
/// attempt ends.
struct OriginFeed: Sendable {
    /// The reason why a feed ended.
    enum End: Sendable {
        /// No request waits for this origin, or none can be sent now, or the task was cancelled.
        case idle
        /// The coordinator was shut down.
        case stopped
        /// The file cannot be read or written.
        case failed(OutboxError)
    }

    /// The maximum number of URLs that are skipped because they redirect. If more redirect, a portal responds in place
    /// of the origin.
    private static let movedLimit = 16

    /// The maximum number of attempts of one run of the engine, which keeps them in memory. Then another run starts.
    private static let attemptsOfRun = 1000

    let queue: OutboxQueue
    let store: OutboxStore
    let sender: any OutboxSender
    let coordinator: RetryCoordinator
    let places: Places
    let report: @Sendable (OutboxEvent) -> Void

    private var options: OutboxOptions { store.options }

    /// Sends requests until none is left.
    func run() async -> End {
        coordinator.enter(queue.host)
        defer { coordinator.leave(queue.host) }
        // The idempotency key makes every request repeatable. Requests that a caller waits for have a higher
        // priority.
        let target = try? RetryTarget(host: queue.host, isRepeatable: true, priority: .low)
        let latest = Locked<OutboxEntry.ID?>(nil)
        let moved = Locked<Set<String>>([])
        while !Task.isCancelled {
            do throws(RetryError) {
                let isMore = try await withUnchargedRetry(
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

    /// Sends each request once, until the host is not reachable or the server does not accept a request.
    func flush() async -> End {
        coordinator.enter(queue.host)
        defer { coordinator.leave(queue.host) }
        do throws(OutboxError) {
            var left = queue.count
            var (moved, last) = (Set<String>(), OutboxEntry.ID?.none)
            while !Task.isCancelled {
                let reachability = await coordinator.settledReachability(of: queue.host)
                guard reachability.status != .notReachable else {
                    skip(left, .notReachable(reason: reachability.reason?.description))
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
                    // Further requests for the same URLs.
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

    /// The policy of the engine. It has no effective limit, because the expiry and the attempts stored in the file end
    /// requests.
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

    /// Makes an attempt. Returns whether there may be more requests to send.
    ///
    /// - Parameters:
    ///   - latest: Receives the request that is to be sent again.
    ///   - moved: The URLs that redirect. Their requests are skipped until no others are left.
    private func attempt(
        _ latest: Locked<OutboxEntry.ID?>,
        _ moved: Locked<Set<String>>,
        isProbe: Bool
    ) async throws -> Bool {
        latest.withLock { $0 = nil }
        // The engine would make an attempt, because only the sender may resolve the name. Here attempts are counted,
        // and a request may wait for a week.
        if await coordinator.settledReachability(of: queue.host).lacksAddress {
            throw Postponed(failureStage: .neverSent)
        }
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
            // No other requests are left. All are tried again.
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

    /// Returns the stage of a result for the engine. Retry-After is applied separately, for all requests to the host.
    /// It does not replace the backoff: a server that always requests one second would use up all attempts in a quarter
    /// of an hour.
    private func stage(of result: OutboxResult) -> FailureStage {
        guard case .retry(let delay, _) = result else { return .neverSent }
        guard let delay else { return .mayHaveBeenProcessed }
        coordinator.holdBack(queue.host, for: min(max(delay, .zero), options.maximumRetryAfter))
        return .answered(status: 503)
    }

    /// Stores the planned time of the next attempt.
    private func plan(_ event: RetryEvent, _ id: OutboxEntry.ID?) {
        guard case .waiting(_, _, let pause) = event, let id else { return }
        options.logger?.debug(
            "waiting before retry",
            metadata: ["origin": "\(queue.origin)", "delay": "\(pause.map { "\($0)" } ?? "until it is reachable")"]
        )
        if let pause { store.plan(id, in: pause) }
    }
}

/// The first request was not delivered, and stays first.
private struct Postponed: RetryableError {
    let failureStage: FailureStage?
}

extension OriginFeed {
    /// The result for the first request.
    enum Sent: Sendable {
        /// The request was removed from the queue.
        case gone
        /// The request stays first.
        case postponed(OutboxEntry, OutboxResult)
        /// The URL of the request redirects. The request stays first for this URL, and requests for other URLs may be
        /// sent.
        case moved(OutboxEntry, url: String)
        /// The request was not sent, because the server requested a pause until this time, in milliseconds since
        /// 1970.
        case notBefore(Int64)
    }

    /// Sends the first request once. Returns nil if no request can be sent.
    ///
    /// - Parameters:
    ///   - urls: The URLs whose requests are skipped.
    ///   - isProbe: True if the attempt tests the monitor, which reports that there is no path.
    func sendNext(except urls: Set<String>, isProbe: Bool = false) async throws(OutboxError) -> Sent? {
        guard await places.take() else { return nil }
        defer { places.release() }
        var delivery: OutboxDelivery
        switch try await store.claim(queue.origin, except: urls) {
        case .nothing: return nil
        case .notBefore(let time): return .notBefore(time)
        case .delivery(let next): delivery = next
        }
        delivery.isProbe = isProbe
        let (options, entry) = (store.options, delivery.entry)
        options.logger?.debug("sending request", metadata: ["request": "\(entry)"])
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
        // Reported before the request becomes a dead letter. A process that is killed in between could otherwise
        // never report it.
        if case .rejected(let reason) = result {
            options.logger?.warning("request rejected", metadata: ["request": "\(entry)", "reason": "\(reason)"])
            report(.rejected(entry, reason: reason))
        }
        try await store.finish(entry, result)
        let sent = publish(entry, result)
        if case .postponed(let entry, _) = sent, result.isRedirect { return .moved(entry, url: delivery.request.url) }
        return sent
    }

    private func publish(_ entry: OutboxEntry, _ result: OutboxResult) -> Sent {
        var entry = entry
        let logger = store.options.logger
        switch result {
        case .delivered:
            logger?.info("request delivered", metadata: ["request": "\(entry)"])
            report(.delivered(entry))
            return .gone
        case .rejected:
            return .gone
        case .retry(_, let cause):
            entry.lastError = cause
            logger?.info("request postponed", metadata: ["request": "\(entry)", "cause": "\(cause ?? "")"])
            report(.postponed(entry))
        case .held(let cause):
            entry.lastError = cause
            entry.attempts = max(entry.attempts - 1, 0)
            logger?.info(
                "request kept, without counting the attempt",
                metadata: ["request": "\(entry)", "cause": "\(cause)"]
            )
            report(.held(entry))
        }
        return .postponed(entry, result)
    }
}
